"""Turns of a durable run with DBOS and with LangGraph's checkpointers: time and bytes of each.

    python durable.py langgraph-sqlite FILE TURNS
    python durable.py langgraph-postgres URL TURNS
    python durable.py dbos-sqlite FILE TURNS
    python durable.py dbos-postgres URL TURNS

A turn is a reply of a model, which is made up, and one call of a tool. LangGraph stores a checkpoint after each of the
two, DBOS a row. Prints one line of JSON.
"""

import json
import operator
import os
import sys
import time
from typing import Annotated, TypedDict

kind, where, turns = sys.argv[1], sys.argv[2], int(sys.argv[3])
ANSWER = "word {} was found in the third drawer of the second desk"


def size_of_file():
    import sqlite3

    if os.path.exists(where):
        # What is still in the log goes into the file.
        sqlite3.connect(where).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return sum(os.path.getsize(where + end) for end in ("", "-wal") if os.path.exists(where + end))


def size_of_database():
    import psycopg

    with psycopg.connect(where, autocommit=True) as db:
        sql = """SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c
                 JOIN pg_namespace n ON n.oid = c.relnamespace
                 WHERE relkind = 'r' AND nspname NOT IN ('pg_catalog', 'information_schema')"""
        return int(db.execute(sql).fetchone()[0])


def report(size, work):
    before = size()
    began = time.perf_counter()
    work()
    took = time.perf_counter() - began
    print(json.dumps({
        "kind": kind,
        "turns": turns,
        "turns_per_second": round(turns / took),
        "bytes_per_turn": (size() - before) // turns,
    }))


def langgraph(saver, size):
    from langgraph.graph import END, StateGraph

    class State(TypedDict):
        messages: Annotated[list, operator.add]

    def model(state):
        done = len(state["messages"]) // 2
        return {"messages": [{"role": "assistant", "tool": "look", "args": {"word": f"word {done}"}}]}

    def tool(state):
        done = len(state["messages"]) // 2
        return {"messages": [{"role": "tool", "content": ANSWER.format(done)}]}

    graph = StateGraph(State)
    graph.add_node("model", model)
    graph.add_node("tool", tool)
    graph.set_entry_point("model")
    graph.add_edge("model", "tool")
    graph.add_conditional_edges(
        "tool", lambda state: END if len(state["messages"]) >= 2 * turns else "model")
    saver.setup()
    compiled = graph.compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "1"}, "recursion_limit": 4 * turns + 10}
    report(size, lambda: compiled.invoke({"messages": []}, config, durability="sync"))


def dbos(url, size):
    from dbos import DBOS

    DBOS(config={"name": "bench", "system_database_url": url, "log_level": "ERROR", "run_admin_server": False})

    @DBOS.step()
    def model(done):
        return {"role": "assistant", "tool": "look", "args": {"word": f"word {done}"}}

    @DBOS.step()
    def tool(done):
        return {"role": "tool", "content": ANSWER.format(done)}

    @DBOS.workflow()
    def run():
        for done in range(turns):
            model(done)
            tool(done)

    DBOS.launch()
    report(size, run)
    DBOS.destroy()


if kind == "langgraph-sqlite":
    from langgraph.checkpoint.sqlite import SqliteSaver

    with SqliteSaver.from_conn_string(where) as saver:
        langgraph(saver, size_of_file)
elif kind == "langgraph-postgres":
    from langgraph.checkpoint.postgres import PostgresSaver

    with PostgresSaver.from_conn_string(where) as saver:
        langgraph(saver, size_of_database)
elif kind == "dbos-sqlite":
    dbos("sqlite:///" + where, size_of_file)
else:
    dbos(where, size_of_database)
