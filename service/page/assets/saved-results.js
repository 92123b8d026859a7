// Results in a file of the user's: a page that was saved here, or the JSON of an answer, perhaps of another model.

/** The runs in a file: objects that a view can compare, with `label`, `shown` and `result`. Throws an `Error`. */
export async function runsOfFile(file) {
  const text = await file.text();
  const rows = /^\s*</.test(text) ? rowsOfPage(text) : rowsOfJson(text);
  const found = rows.filter((row) => row?.data !== undefined && !row.error);
  if (!found.length) throw new Error(`${file.name} has no results. Open a page that was saved here, or the JSON of an answer.`);
  return found.map((row, index) => savedRun(row, found.length > 1 ? `${file.name}, ${row.id ?? index + 1}` : file.name));
}

// In a saved page `<` is an escape within the results, so they end with the first tag.
const RESULTS = /<script type="application\/json" id="results">([^<]*)</;

function rowsOfPage(text) {
  const found = RESULTS.exec(text);
  return found ? JSON.parse(found[1]).rows : [];
}

function rowsOfJson(text) {
  try {
    return [JSON.parse(text)].flat();
  } catch {
    return text.split("\n").filter((line) => line.trim()).map((line) => {
      try {
        return JSON.parse(line);
      } catch {
        return null;
      }
    });
  }
}

function savedRun(row, label) {
  return {
    label: row.model ? `${label} (${row.model})` : label,
    error: null,
    result: row,
    shown: { data: row.data, text: row.text ?? "", fields: row.fields ?? {}, warnings: row.warnings ?? [] },
    stop() {},
  };
}
