"""The host tier keeps the most recently used contents, within its bound."""

from collections import OrderedDict
from random import Random

from intaglio.engine.memory.block_contents import Content, HostContent
from intaglio.engine.memory.host_tier import HostTier


def test_random_use_against_a_plain_list() -> None:
    dice, tier = Random(1), HostTier(100)
    model: OrderedDict[bytes, Content] = OrderedDict()
    for _ in range(3000):
        chain = bytes([dice.randrange(12)])
        if dice.random() < 0.5:
            content = HostContent(bytes(dice.randint(1, 120)))
            model.pop(chain, None)
            model[chain] = content
            expected = []
            while sum(each.nbytes for each in model.values()) > 100:
                expected.append(model.popitem(last=False))
            assert list(tier.put(chain, content)) == expected
        else:
            if chain in model:
                model.move_to_end(chain)
            assert tier.get(chain) == model.get(chain)
        tier.check()
        assert len(tier) == len(model)
        assert (chain in tier) == (chain in model)
        assert tier.nbytes == sum(each.nbytes for each in model.values())
