"""Headers and shapes of public data sets of entailment, paraphrase, answers and similarity, each with made-up rows."""

from __future__ import annotations

import json

import pytest

from core.data import DataError, read

A, B = "A man is sleeping on a bench.", 'He said "good morning" to nobody.'
FIRST, SECOND, LABEL = "«1»", "«2»", "«label»"

TABLES = {
    "SNLI txt": "gold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse\t"
    "sentence1\tsentence2\tcaptionID\tpairID\tlabel1\tlabel2\n"
    f"{LABEL}\t( x )\t( y )\t(ROOT x)\t(ROOT y)\t{FIRST}\t{SECOND}\t3.jpg#0\t3.jpg#0r1n\tneutral\tneutral\n",
    "MultiNLI of GLUE": "index\tpromptID\tpairID\tgenre\tsentence1_binary_parse\tsentence2_binary_parse\t"
    "sentence1_parse\tsentence2_parse\tsentence1\tsentence2\tlabel1\tgold_label\n"
    f"0\t63735\t63735n\tslate\t( x )\t( y )\t(ROOT x)\t(ROOT y)\t{FIRST}\t{SECOND}\tneutral\t{LABEL}\n",
    "HANS txt": "gold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse\t"
    f"sentence1\tsentence2\tpairID\theuristic\tsubcase\ttemplate\n{LABEL}\t( x )\t( y )\t(ROOT x)\t(ROOT y)\t"
    f"{FIRST}\t{SECOND}\tex0\tsubsequence\tsn_NP/S\ttemp1\n",
    "XNLI tsv": "language\tgold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse"
    "\tsentence1\tsentence2\tpromptID\tpairID\tgenre\tlabel1\tmatch\n"
    f"en\t{LABEL}\t\t\t\t\t{FIRST}\t{SECOND}\t1\t1\tfacetoface\tneutral\tTrue\n",
    "RTE of GLUE": f"index\tsentence1\tsentence2\tlabel\n0\t{FIRST}\t{SECOND}\t{LABEL}\n",
    "QNLI of GLUE": f"index\tquestion\tsentence\tlabel\n0\t{FIRST}\t{SECOND}\t{LABEL}\n",
    "QQP of GLUE": f"id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n1\t2\t3\t{FIRST}\t{SECOND}\t{LABEL}\n",
    "MRPC of GLUE": f"Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n{LABEL}\t1\t2\t{FIRST}\t{SECOND}\n",
    "STS-B of GLUE": "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"
    f"0\tmain-captions\tMSRvid\t2012test\t0001\tnone\tnone\t{FIRST}\t{SECOND}\t{LABEL}\n",
    "PAWS tsv": f"id\tsentence1\tsentence2\tlabel\n1\t{FIRST}\t{SECOND}\t{LABEL}\n",
    "TaxiNLI tsv": f"prem\thyp\tlabel\tnegation_logic\tpairID\n{FIRST}\t{SECOND}\t{LABEL}\t0\t5e\n",
    "SICK of another year": f"pair_ID\tsentence_A\tsentence_B\tlabel\n1\t{FIRST}\t{SECOND}\t{LABEL}\n",
    "e-SNLI csv": "pairID,gold_label,Sentence1,Sentence2,Explanation_1,Sentence1_marked_1\n"
    f'7,{LABEL},"{FIRST}","{SECOND}",A man who sleeps is not up.,A *man* is sleeping.\n',
    "STS csv": f'sentence1,sentence2,similarity_score\n"{FIRST}","{SECOND}",{LABEL}\n',
    "text and text_pair": f'text,text_pair,label\n"{FIRST}","{SECOND}",{LABEL}\n',
    "FEVER-NLI csv": f'id,context,query,label\n1,"{FIRST}","{SECOND}",{LABEL}\n',
    "claim and evidence": f'claim,evidence,label\n"{FIRST}","{SECOND}",{LABEL}\n',
    "query and passage": f"query\tpassage\tlabel\n{FIRST}\t{SECOND}\t{LABEL}\n",
    "two columns of one name": f'sentence,sentence,label\n"{FIRST}","{SECOND}",{LABEL}\n',
    "Sentence 1, Sentence 2": f'Sentence 1;Sentence 2;Label\n"{FIRST}";"{SECOND}";{LABEL}\n',
    "pipes": f"premise|hypothesis|label\n{FIRST}|{SECOND}|{LABEL}\n",
    "pandas' index": f',s1,s2,label\n0,"{FIRST}","{SECOND}",{LABEL}\n',
    "R's write.table": f'"text1"\t"text2"\t"label"\n"1"\t"{FIRST}"\t"{SECOND}"\t"{LABEL}"\n',
}
OBJECTS = {
    "ANLI": {
        "uid": "u",
        "context": A,
        "hypothesis": B,
        "label": "c",
        "model_label": "n",
        "reason": "He is asleep now.",
    },
    "ChaosNLI": {
        "uid": "u",
        "label_counter": {"e": 60, "n": 40},
        "majority_label": "c",
        "example": {"uid": "u", "premise": A, "hypothesis": B, "source": "snli"},
    },
    "FEVER-NLI": {"cid": 1, "fid": "x", "context": A, "query": B, "label": "c"},
    "SciTail, SNLI's keys": {"gold_label": "c", "sentence1": A, "sentence2": B, "annotator_labels": ["c"]},
    "WANLI": {"id": 1, "premise": A, "hypothesis": B, "gold": "c", "genre": "generated", "pairID": "4"},
    "CommitmentBank": {"premise": A, "hypothesis": B, "label": "c", "idx": 0},
    "BoolQ with a class": {"question": A, "passage": B, "label": "c", "idx": 0},
    "WiC": {"word": "place", "sentence1": A, "sentence2": B, "idx": 0, "label": "c", "start1": 31, "version": 1.1},
    "MedNLI": {"sentence1": A, "pairID": "p", "sentence1_parse": "(x)", "sentence2": B, "gold_label": "c"},
    "GLUE on the Hub": {"sentence1": A, "sentence2": B, "label": "c", "idx": 3},
    "a list of two texts": {"set": [A, B], "label": "c"},
    "texts as a list": {"texts": [A, B], "score": "c"},
    "nested texts": {"pair": {"sentence1": {"text": A}, "sentence2": {"text": B}}, "label": "c"},
    "InsuranceQA": {"question": A, "answer": B, "label": "c"},
}


def filled(table: str, label: str, quoted: bool) -> str:
    second = B.replace('"', '""') if quoted else B
    return table.replace(FIRST, A).replace(SECOND, second).replace(LABEL, label)


@pytest.mark.parametrize("shape", TABLES)
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_tables_of_public_data_sets_are_pairs(tmp_path, shape, ends):
    path, table = tmp_path / "file.txt", TABLES[shape]
    content = filled(table, "1", quoted=f'"{FIRST}"' in table)
    path.write_bytes(content.replace("\n", ends).encode())
    data = read(path, labelled=False)
    assert [(row.first, row.second, row.label) for row in data.rows] == [(A, B, "1")] and not data.problems


@pytest.mark.parametrize("shape", OBJECTS)
def test_json_of_public_data_sets_is_pairs(tmp_path, shape):
    rows = [OBJECTS[shape], OBJECTS[shape]]
    shapes = {
        "lines": "\n".join(map(json.dumps, rows)),
        "list": json.dumps(rows),
        "indented list": json.dumps(rows, indent=2),
        "objects over several lines": "\n".join(json.dumps(row, indent=2) for row in rows),
        "data": json.dumps({"version": 1, "data": rows}),
    }
    for written, content in shapes.items():
        (tmp_path / "file.json").write_text(content)
        data = read(tmp_path / "file.json", labelled=False)
        found = [(row.first, row.second) for row in data.rows]
        assert found == [(A, B)] * 2 and not data.problems, written
        if "answer" not in rows[0] and "gold_label" not in rows[0]:  # these know only labels of their own
            assert [row.label for row in data.rows] == ["c", "c"], written


def test_chaosnlis_votes_stay_with_the_row(tmp_path):
    (tmp_path / "chaos.jsonl").write_text(json.dumps(OBJECTS["ChaosNLI"]))
    (row,) = read(tmp_path / "chaos.jsonl", labelled=False).rows
    assert (row.id, json.loads(row.columns["label_counter"])) == ("u", {"e": 60, "n": 40})


@pytest.mark.parametrize("value", ["YES", "ENTAILMENT"])
@pytest.mark.parametrize("key", ["entailment", "value"])
def test_rtes_xml_is_pairs(tmp_path, key, value):
    (tmp_path / "rte.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE entailment-corpus SYSTEM "rte.dtd">\n<entailment-corpus>\n'
        f'<pair id="9" {key}="{value}" task="IE">\n<t>A &amp; B\nsleep.</t>\n<h>Both <b>sleep</b>.</h>\n</pair>\n'
        f'<pair id="10" {key}="NO" task="IR"><t>One.</t><h>Two.</h></pair></entailment-corpus>'
    )
    data = read(tmp_path / "rte.xml")
    assert [(row.id, row.first, row.second, row.label) for row in data.rows] == [
        ("9", "A & B\nsleep.", "Both sleep.", value.lower()),
        ("10", "One.", "Two.", "no"),
    ]
    assert data.rows[0].columns == {"task": "IE"}


TWO_TEXTS = "How are you doing today?", "I am doing very well, thanks."


@pytest.mark.parametrize("written", ["csv", "tsv", "json"])
def test_a_second_text_is_asked_for_and_never_dropped(tmp_path, written):
    row = dict(zip(("text", "reply", "label"), (*TWO_TEXTS, "pos"), strict=True))
    content = json.dumps(row)
    if written != "json":
        sign = {"csv": ";", "tsv": "\t"}[written]
        content = f"{sign.join(row)}\n{sign.join(row.values())}\n"
    (tmp_path / f"replies.{written}").write_text(content)
    with pytest.raises(DataError, match=rf"replies\.{written} is not known: .* text, reply, label; .*--columns"):
        read(tmp_path / f"replies.{written}")


def test_texts_about_a_document_are_no_second_text(tmp_path):
    (tmp_path / "x.csv").write_text(f"text,label,explanation\n{TWO_TEXTS[0]},pos,It is a polite question.\n")
    data = read(tmp_path / "x.csv")
    assert data.single and data.rows[0].columns == {"explanation": "It is a polite question."}


@pytest.mark.parametrize(
    "row",
    [
        {"question": "How are you doing today?", "answer": ["I am very well.", "I am rather ill."], "label": 1},
        {"a": {"premise": A}, "b": {"premise": A, "hypothesis": B}, "label": 1},
        {"premise": {"de": A, "en": A}, "hypothesis": {"language": ["de", "en"], "translation": [B, B]}, "label": 1},
    ],
    ids=["two answers", "two premises", "several languages"],
)
def test_nested_texts_that_may_be_read_in_two_ways_are_asked_for(tmp_path, row):
    (tmp_path / "x.jsonl").write_text(json.dumps(row))
    with pytest.raises(DataError, match=r"its rows have the keys .*--columns"):
        read(tmp_path / "x.jsonl")
