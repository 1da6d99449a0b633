"""Talks three turns with a streaming model, like many real harnesses; standard library only."""

import http.client
import json
import os

SETTINGS = os.path.join(os.environ["HOME"], "prompt.txt")


def answer(messages):
    host, _, port = os.environ["GATEWAY"].partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=600)
    body = json.dumps({"model": "m", "stream": True, "messages": messages})
    headers = {"authorization": "Bearer " + os.environ["TOKEN"], "content-type": "application/json"}
    connection.request("POST", "/v1/chat/completions", body, headers)
    response = connection.getresponse()
    if response.status != 200:
        raise SystemExit(f"HTTP {response.status}: {response.read()}")
    text = ""
    for line in response:
        if line.startswith(b"data: {"):
            for choice in json.loads(line[6:])["choices"]:
                text += choice["delta"].get("content") or ""
    return text


def main():
    with open(SETTINGS) as file:
        messages = [{"role": "user", "content": file.read()}]
    for turn in range(3):
        messages.append({"role": "assistant", "content": answer(messages)})
        messages.append(
            {"role": "user", "content": f"go on, {turn}; I am {os.getpid()} in {os.environ['HOME']}"}
        )


main()
