"""ChatOpenAI of langchain-openai, over chat completions and over responses: whole, in a stream, a bound tool. Prints what it got."""

import json
import os

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel
from typing import Literal


class City(BaseModel):
    city: Literal["Oslo"]


@tool(args_schema=City)
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"It rains in {city}."


WORDS = "Was the soup any good?"


def model(api, most):
    return ChatOpenAI(
        model=os.environ["MODEL"],
        base_url=os.environ["BASE_URL"] + "/v1",
        api_key=os.environ["API_KEY"],
        temperature=0,
        max_tokens=most,
        max_retries=0,
        stream_usage=True,
        use_responses_api=api == "responses",
    )


texts, tokens, calls, results = {}, [], [], []
for api in ("chat", "responses"):
    whole = model(api, 24).invoke(WORDS)
    streamed = None
    for chunk in model(api, 24).stream(WORDS):
        streamed = chunk if streamed is None else streamed + chunk
    texts[api] = {"whole": str(whole.text), "stream": str(streamed.text)}
    tokens += [whole.usage_metadata["output_tokens"], streamed.usage_metadata["output_tokens"]]
    answer = model(api, 120).bind_tools([get_weather], tool_choice="get_weather").invoke(WORDS)
    call = answer.tool_calls[0]
    calls.append({"name": call["name"], "arguments": call["args"]})
    result = get_weather.invoke(call)
    last = model(api, 24).bind_tools([get_weather], tool_choice="none").invoke([("user", WORDS), answer, result])
    results.append(str(last.text))

print(json.dumps({"texts": texts, "tokens": tokens, "calls": calls, "results": results}))
