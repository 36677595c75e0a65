"""The openai package of PyPI: each call once, whole and in a stream. Prints what it got."""

import json
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"], max_retries=0)
model = os.environ["MODEL"]
words = "Was the soup any good?"
limit = {"model": model, "temperature": 0, "max_tokens": 24}
asked = {"model": model, "temperature": 0, "max_output_tokens": 24}
messages = [{"role": "user", "content": words}]
parameters = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Oslo"]}},
    "required": ["city"],
    "additionalProperties": False,
}

models = [card.id for card in client.models.list()]

chat = client.chat.completions.create(**limit, messages=messages)
chat_text, chat_tokens = "", 0
for chunk in client.chat.completions.create(
    **limit, messages=messages, stream=True, stream_options={"include_usage": True}
):
    chat_text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    chat_tokens = chunk.usage.completion_tokens if chunk.usage else chat_tokens
with client.chat.completions.stream(
    **{**limit, "max_tokens": 120},
    messages=messages,
    stream_options={"include_usage": True},
    tools=[{"type": "function", "function": {"name": "get_weather", "parameters": parameters}}],
    tool_choice={"type": "function", "function": {"name": "get_weather"}},
) as events:
    called = events.get_final_completion().choices[0].message.tool_calls[0].function

completion = client.completions.create(**limit, prompt=words)
pieces = client.completions.create(**limit, prompt=words, stream=True, stream_options={"include_usage": True})
completion_text = "".join(chunk.choices[0].text for chunk in pieces if chunk.choices)

response = client.responses.create(**asked, input=words)
response_text, response_tokens = "", 0
for event in client.responses.create(**asked, input=words, stream=True):
    if event.type == "response.output_text.delta":
        response_text += event.delta
    if event.type in ("response.completed", "response.incomplete"):
        response_tokens = event.response.usage.output_tokens
response_call = client.responses.create(
    **{**asked, "max_output_tokens": 120},
    input=words,
    tools=[{"type": "function", "name": "get_weather", "parameters": parameters, "strict": True}],
    tool_choice={"type": "function", "name": "get_weather"},
)
item = next(item for item in response_call.output if item.type == "function_call")

print(
    json.dumps(
        {
            "models": models,
            "texts": {
                "chat": {"whole": chat.choices[0].message.content, "stream": chat_text},
                "completions": {"whole": completion.choices[0].text, "stream": completion_text},
                "responses": {"whole": response.output_text, "stream": response_text},
            },
            "tokens": [
                chat.usage.completion_tokens,
                chat_tokens,
                response.usage.output_tokens,
                response_tokens,
            ],
            "calls": [{"name": one.name, "arguments": json.loads(one.arguments)} for one in (called, item)],
        }
    )
)
