"""Guessed encodings: texts of many languages come back as they were written."""

import pytest
from intaglio.service.encoding_guess import guessed_encoding

# ruff: noqa: RUF001

TEXTS = {
    "cp1252": [
        "Nombre: José Peña\nCiudad: A Coruña\nTeléfono: 600 123 456\n",
        "Nome: João Gonçalves\nCidade: São Paulo\n",
        "Nom : François Lefèvre\nVille : Besançon\nMontant : 12,50 €\n",
        "Name: Jürgen Weiß\nStraße: Große Allee 5\nOrt: Köln\n",
        "Navn: Søren Ærø\nBy: Århus\n",
        "Namn: Åsa Öberg\nStad: Malmö\n",
        "Jón Þórðarson, Reykjavík",
        "Total: £12.50",
        "He said “no” – it’s 5°C…",
        "M²: 45, ½ price",
        "STRASSE: GRÜNER WEG, KÖLN",
    ],
    "cp1250": [
        "Imię: Łukasz Żółć\nMiasto: Kraków\n",
        "Jméno: Jiří Dvořák\nMěsto: Plzeň\n",
        "Nume: Ştefan Ionuţ\nOraş: Bucureşti",
        "Ime: Željko Čović",
    ],
    "iso8859_2": ["Imię: Łukasz Świć\nMiasto: Kraków\n"],
    "cp1254": ["Adı: Ayşe Yılmaz\nŞehir: İstanbul\n"],
    "cp1257": ["Vardas: Jūratė Šarkaitė", "Nimi: Jüri Õunapuu"],
    "cp850": ["Name: Jürgen Müller\nOrt: Köln"],
    "mac_roman": ["Nom: François Lefèvre\nVille: Besançon"],
    "cp1251": ["Счёт № 12 от 3 июня 2026 г.\nСумма: 1 200,50 руб.\nПокупатель: ООО Ромашка\n"],
    "koi8_r": ["Счёт 12 от 3 июня 2026 г.\nСумма: 1 200,50 руб.\nПокупатель: ООО Ромашка\n"],
    "cp1253": ["Όνομα: Γιώργος\nΠόλη: Αθήνα\n"],
    "cp1256": ["الاسم: محمد علي\nالمدينة: القاهرة\n"],
    "gb18030": ["姓名：李雷\n城市：北京\n"],
    "big5": ["姓名：王小明\n城市：台北市\n"],
    "cp949": ["이름: 홍길동\n도시: 서울\n"],
    "cp932": ["氏名: 山田太郎\n会社: 東京電機株式会社\n"],
}


@pytest.mark.parametrize(
    ("encoding", "text"), [(encoding, text) for encoding in TEXTS for text in TEXTS[encoding]]
)
def test_a_text_is_read_as_it_was_written(encoding: str, text: str) -> None:
    content = text.encode(encoding)
    guess = guessed_encoding(content)
    assert guess is not None
    assert content.decode(guess) == text


@pytest.mark.parametrize("before", [0, 3, 100_000])
def test_foreign_bytes_are_found_where_a_text_begins_in_ascii(before: int) -> None:
    content = b"x " * before + "Café, 5 €".encode("cp1252")
    assert guessed_encoding(content) == "cp1252"


def test_bytes_of_no_text_have_no_encoding() -> None:
    assert guessed_encoding(bytes(range(128, 256)) * 20) is None
