"""A Chromium without a window, driven through its debugging pipe: no network, no packages."""

import base64
import json
import os
import select
import shutil
import subprocess
import time


class Browser:
    def __init__(self, profile):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if program is None:
            raise SystemExit("check.py: there is no Chromium")
        there, self.to = os.pipe()
        self.back, here = os.pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", "--disable-sync", f"--user-data-dir={profile}"]
        self.process = subprocess.Popen(["sh", "-c", f'exec "$0" "$@" 3<&{there} 4>&{here}', program, *options],
                                        pass_fds=(there, here), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there), os.close(here)
        self.next_id, self.rest, self.events = 0, b"", []
        target = self.send("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
        self.session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True}, None)["sessionId"]
        for part in ("Page", "Runtime", "Log", "Network"):
            self.send(part + ".enable")

    def close(self):
        self.process.terminate()
        self.process.wait()

    def receive(self, seconds):
        """The next message, or None after so long."""
        end = time.monotonic() + seconds
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.back], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            more = os.read(self.back, 1 << 16)
            if not more:
                raise SystemExit("check.py: Chromium ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, params=None, session="own"):
        """Asks for something and waits for the answer; what happens meanwhile goes to `events`."""
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": params or {}}
        if session is not None:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0") if len(json.dumps(message)) < 60000 else self.write_long(message)
        while True:
            answer = self.receive(180)
            if answer is None:
                raise SystemExit(f"check.py: no answer to {method}")
            if answer.get("id") == self.next_id:
                if "error" in answer:
                    raise SystemExit(f"check.py: {method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def write_long(self, message):
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]

    def show(self, width, height=900, dark=False, media="screen", touch=False):
        """How the window is from now on."""
        self.send("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": touch})
        self.send("Emulation.setTouchEmulationEnabled", {"enabled": touch})
        self.send("Emulation.setEmulatedMedia", {"media": media, "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def open(self, path):
        """Loads a file; what it did meanwhile is in `events`."""
        self.events.clear()
        self.send("Page.navigate", {"url": "file://" + os.path.abspath(path)})
        end = time.monotonic() + 120
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            event = self.receive(end - time.monotonic())
            if event is None:
                raise SystemExit(f"check.py: {path} does not load")
            self.events.append(event)
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            raise SystemExit(f"check.py: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def complaints(self):
        """Errors and lines on the console since the page was opened."""
        told = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [e["params"] for e in self.events if e.get("method") in told]

    def requests(self):
        """Returns the addresses asked for since the page was opened, but for data in the page itself."""
        urls = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [u for u in urls if not u.startswith(("data:", "blob:"))]

    def mouse(self, kind, x, y, buttons=0):
        self.send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "buttons": buttons, "clickCount": 1,
                                               "button": "left" if buttons or kind == "mouseReleased" else "none"})

    def drag(self, start, end):
        self.mouse("mousePressed", *start, buttons=1)
        for k in range(1, 6):
            self.mouse("mouseMoved", start[0] + (end[0] - start[0]) * k / 5, start[1] + (end[1] - start[1]) * k / 5, buttons=1)
        self.mouse("mouseReleased", *end)

    def click(self, x, y):
        self.mouse("mousePressed", x, y, buttons=1)
        self.mouse("mouseReleased", x, y)

    def tap(self, x, y):
        self.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        self.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def key(self, key, text=None):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", {"type": kind, "key": key, **({"text": text} if text and kind == "keyDown" else {})})

    def type(self, text):
        self.send("Input.insertText", {"text": text})

    def shot(self, path):
        """The whole page as a picture."""
        picture = self.send("Page.captureScreenshot", {"captureBeyondViewport": True})
        with open(path, "wb") as f:
            f.write(base64.b64decode(picture["data"]))

    def printed(self, path=None):
        """The page as PDF; how many sheets it has."""
        data = base64.b64decode(self.send("Page.printToPDF", {"printBackground": False, "preferCSSPageSize": True})["data"])
        if path:
            with open(path, "wb") as f:
                f.write(data)
        return data.count(b"/Type /Page\n") + data.count(b"/Type /Page ") + data.count(b"/Type /Page/")
