"""The bare half of an LLM target: N questions by W workers over aiohttp, answers checked.

Run as `ask.py CASES WORKERS [REQUESTS]` with the API at `$STICK_URL`. What fails is asked again
after a second, or at once if it ran into the time limit of 5 s; `REQUESTS` of 2 adds a judge.
"""

import asyncio
import os
import sys

import aiohttp

URL = f"{os.environ['STICK_URL']}/chat/completions"
LIMIT = aiohttp.ClientTimeout(total=5)
VERDICT = "[[ ## candidate_answer ## ]] Is it right?"


async def main(cases: int, workers: int, requests: int = 1) -> None:
    questions = iter(range(cases))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def work() -> int:
            right = 0
            for n in questions:
                text = f"What is {n} plus 42, and what is left when {n} is taken away?"
                right += "42" in await ask(session, text)
                for _ in range(requests - 1):
                    await ask(session, VERDICT)
            return right

        answers = await asyncio.gather(*(work() for _ in range(workers)))
    print(f"{sum(answers)} passed")


async def ask(session: aiohttp.ClientSession, text: str) -> str:
    body = {"model": "stick", "messages": [{"role": "user", "content": text}]}
    while True:
        try:
            async with session.post(URL, json=body, timeout=LIMIT) as reply:
                if reply.status == 200:
                    content: str = (await reply.json())["choices"][0]["message"]["content"]
                    return content
        except TimeoutError:
            continue
        except aiohttp.ClientError:
            pass
        await asyncio.sleep(1)


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
