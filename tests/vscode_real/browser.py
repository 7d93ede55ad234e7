"""VS Code's windows as pages of a headless Chromium, driven by the arguments of `code`."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from vscode_real.model import MODEL_NAME

_SECONDS = 90
_LIST_OF_MODELS = "Chat: Manage Language Models"
_CHAT_INPUT = ".interactive-input-part .monaco-editor [role='textbox']"


class Windows:
    """What `code` would do, done in a browser.

    Args:
        context: Playwright's browser context.
        address: Where code-server listens.
        pictures: A folder for screenshots, for whoever must find out what went wrong.
    """

    def __init__(self, context: Any, address: str, pictures: Path) -> None:
        self._context = context
        self._address = address
        self._pictures = pictures
        self._pages: dict[str, Any] = {}
        """By workspace; those that are open for good."""
        self._opening: dict[str, asyncio.Task[None]] = {}
        self._chats: list[asyncio.Task[None]] = []
        self._active = ""
        self._turn = asyncio.Lock()
        self._typing = asyncio.Lock()

    async def call(self, arguments: list[str]) -> str:
        """What the program prints."""
        async with self._turn:
            if arguments == ["--status"]:
                names = [Path(path).stem for path in self._pages]
                return "".join(f"|  Window ({name} (Workspace))\n" for name in names)
            if len(arguments) == 1:
                await self._show(arguments[0])
            elif arguments[:3] == ["-r", "chat", "-m"]:
                chat = asyncio.create_task(self._chat(self._active, arguments[-1]))
                self._chats.append(chat)
            else:
                raise ValueError(f"not understood: {arguments}")
            return ""

    async def picture(self, name: str) -> None:
        """Take one of every window."""
        for number, page in enumerate(self._pages.values()):
            await page.screenshot(path=self._pictures / f"{name}-{number}.png")

    async def aclose(self) -> None:
        """Type no further: the run that asked is over."""
        for chat in self._chats:
            chat.cancel()
        await asyncio.gather(*self._chats, return_exceptions=True)

    async def _show(self, workspace: str) -> None:
        """Come back at once, as `code` does; the window opens in its own time."""
        if workspace not in self._opening:
            self._opening[workspace] = asyncio.create_task(self._open(workspace))
        elif workspace in self._pages:
            await self._pages[workspace].bring_to_front()
        self._active = workspace

    async def _open(self, workspace: str) -> None:
        page = await self._context.new_page()
        await page.goto(f"{self._address}/?workspace={workspace}")
        await page.wait_for_selector(".monaco-workbench", timeout=_SECONDS * 1000)
        await self._wake_models(page)
        self._pages[workspace] = page

    async def _wake_models(self, page: Any) -> None:
        """The chat extension looks for its models once their list has been opened."""
        palette = page.locator(".quick-input-widget")
        async with asyncio.timeout(_SECONDS):
            while not await palette.is_visible():  # keys are heard once the window is whole
                await page.keyboard.press("F1")
                await page.wait_for_timeout(1000)
        await page.keyboard.type(_LIST_OF_MODELS, delay=5)
        await palette.locator(".monaco-list-row", has_text=_LIST_OF_MODELS).first.wait_for()
        await page.keyboard.press("Enter")
        await page.get_by_text(MODEL_NAME).first.wait_for(timeout=_SECONDS * 1000)
        await page.keyboard.press("Escape")

    async def _chat(self, workspace: str, text: str) -> None:
        """In the order of the calls; nobody waits for it, as nobody does with `code`."""
        try:
            async with self._typing:
                await self._opening[workspace]
                await self._type(self._pages[workspace], text)
                await self.picture("chat")
        except Exception as error:
            print(f"No chat in {workspace}: {error}", file=sys.stderr)
            await self.picture("error")

    async def _type(self, page: Any, text: str) -> None:
        # Not by a click: notifications may lie over it.
        await page.locator(_CHAT_INPUT).first.focus()
        await page.keyboard.insert_text(text)
        await page.wait_for_timeout(500)
        await page.keyboard.press("Enter")
        await page.wait_for_timeout(1000)


@asynccontextmanager
async def windows(
    address: str, chromium: str, socket: Path, pictures: Path
) -> AsyncIterator[Windows]:
    """Serve `code` on a socket for as long as the context lasts."""
    playwright = import_module("playwright.async_api")
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        context = await browser.new_context(viewport={"width": 1400, "height": 900})
        held = Windows(context, address, pictures)
        server = await asyncio.start_unix_server(lambda *ends: _serve(held, *ends), path=socket)
        try:
            yield held
        finally:
            await held.picture("end")
            await held.aclose()
            server.close()
            await browser.close()


async def _serve(held: Windows, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    reply: dict[str, Any] = {"exit_code": 0, "stdout": "", "stderr": ""}
    try:
        reply["stdout"] = await held.call(json.loads(await reader.readline()))
    except Exception as error:
        reply.update(exit_code=1, stderr=f"{error}\n")
        await held.picture("error")
    with suppress(ConnectionError):  # the caller may have been ended meanwhile
        writer.write(json.dumps(reply).encode() + b"\n")
        await writer.drain()
    writer.close()
