"""The anthropic package of PyPI: messages whole and in a stream, the call of a tool, and a count. Prints what it got."""

import json
import os

from anthropic import Anthropic

client = Anthropic(base_url=os.environ["BASE_URL"], api_key=os.environ["API_KEY"], max_retries=0)
messages = [{"role": "user", "content": "Was the soup any good?"}]
asked = {"model": os.environ["MODEL"], "max_tokens": 24, "messages": messages, "extra_body": {"temperature": 0}}
tool = {
    "name": "get_weather",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string", "enum": ["Oslo"]}},
        "required": ["city"],
        "additionalProperties": False,
    },
}


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


whole = client.messages.create(**asked)
with client.messages.stream(**asked) as stream:
    text = "".join(stream.text_stream)
    streamed = stream.get_final_message()
with client.messages.stream(
    **{**asked, "max_tokens": 120}, tools=[tool], tool_choice={"type": "tool", "name": "get_weather"}
) as calling:
    call = next(block for block in calling.get_final_message().content if block.type == "tool_use")
count = client.messages.count_tokens(model=asked["model"], messages=messages)

print(
    json.dumps(
        {
            "texts": {"messages": {"whole": text_of(whole), "stream": text}},
            "tokens": [whole.usage.output_tokens, streamed.usage.output_tokens],
            "prompts": [whole.usage.input_tokens + (whole.usage.cache_read_input_tokens or 0), count.input_tokens],
            "calls": [{"name": call.name, "arguments": call.input}],
        }
    )
)
