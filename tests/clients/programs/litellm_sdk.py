"""litellm with its providers openai and anthropic: whole, in a stream, the call of a tool. Prints what it got."""

import json
import os

# It would ask for a list of prices first.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm  # noqa: E402

litellm.suppress_debug_info = True

URL, KEY, MODEL = os.environ["BASE_URL"], os.environ["API_KEY"], os.environ["MODEL"]
PLACES = {"openai": URL + "/v1", "anthropic": URL}
messages = [{"role": "user", "content": "Was the soup any good?"}]
parameters = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Oslo"]}},
    "required": ["city"],
    "additionalProperties": False,
}
tool = {"type": "function", "function": {"name": "get_weather", "parameters": parameters}}

texts, tokens, calls = {}, [], []
for provider, place in PLACES.items():
    asked = {
        "model": f"{provider}/{MODEL}",
        "api_base": place,
        "api_key": KEY,
        "messages": messages,
        "max_tokens": 24,
        "temperature": 0,
        "num_retries": 0,
    }
    whole = litellm.completion(**asked)
    text = ""
    for chunk in litellm.completion(**asked, stream=True, stream_options={"include_usage": True}):
        text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    texts[provider] = {"whole": whole.choices[0].message.content, "stream": text}
    tokens.append(whole.usage.completion_tokens)
    choice = {"type": "function", "function": {"name": "get_weather"}}
    answer = litellm.completion(**{**asked, "max_tokens": 120}, tools=[tool], tool_choice=choice)
    call = answer.choices[0].message.tool_calls[0].function
    calls.append({"name": call.name, "arguments": json.loads(call.arguments)})

print(json.dumps({"texts": texts, "tokens": tokens, "calls": calls}))
