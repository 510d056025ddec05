import { expect, test } from "vitest";
import { parseHead } from "./request.ts";

test("[NETWORK-2] CONNECT and http:// requests name a host and a port; other requests are invalid", () => {
  expect(parseHead("CONNECT Example.com:443 HTTP/1.1\r\nHost: other:1")).toEqual({
    is: "connect",
    host: "example.com",
    port: 443,
  });
  expect(parseHead("CONNECT [::1]:443 HTTP/1.1")).toEqual({ is: "connect", host: "::1", port: 443 });
  const bad = [
    "CONNECT example.com HTTP/1.1",
    "CONNECT example.com:443:80 HTTP/1.1",
    "CONNECT a@b:443 HTTP/1.1",
    "CONNECT 127.1:80 HTTP/1.1",

    "GET / HTTP/1.1",
    "GET https://example.com/ HTTP/1.1",
    "GET http://u@example.com/ HTTP/1.1",
    "GET http:///x HTTP/1.1",

    "GET http://example.com/ HTTP/2",
    "",
    "\x05\x01\x00",
    "connect example.com:443 HTTP/1.1",
    "CONNECT example.com:443\tHTTP/1.1",
  ];
  for (const text of bad) expect(parseHead(text), text).toMatchObject({ is: "invalid" });
});

test("[NETWORK-2] a plain request is sent on in the server's form, once per connection, without the proxy's headers", () => {
  const asked = parseHead(
    "POST http://Example.com:8080?q=1 HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: x\r\nConnection: keep-alive\r\nContent-Length: 2",
  );
  const head = "POST /?q=1 HTTP/1.1\r\nHost: Example.com:8080\r\nContent-Length: 2\r\nConnection: close\r\n\r\n";
  expect(asked).toEqual({ is: "forward", host: "example.com", port: 8080, head });
  expect(parseHead("GET http://a.example HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade")).toMatchObject({
    port: 80,
    head: "GET / HTTP/1.1\r\nHost: a.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
  });
});
