-- One tools/call after the other, each with an id and a text of its own, in the sessions of a file by turns; without a file, as
-- the modern era calls, which has none.
-- wrk … -s call.lua URL -- SESSIONS_FILE|- TOKEN|- checked|counted
-- `checked` reads every answer, for one connection: it must repeat the text that was just sent.

dofile(debug.getinfo(1, "S").source:match("^@?(.*/)") .. "report.lua")

local sessions, count, head, meta, said = {}, 0, "", "", ""
wrong = 0

function init(args)
  head = "POST " .. wrk.path .. " HTTP/1.1\r\nHost: " .. wrk.headers["Host"] .. "\r\nContent-Type: application/json\r\n"
    .. "Accept: application/json, text/event-stream\r\n"
  if args[1] == "-" then
    head = head .. "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n"
    meta = ',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
      .. '"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}'
  else
    head = head .. "MCP-Protocol-Version: 2025-11-25\r\n"
    for line in io.lines(args[1]) do sessions[#sessions + 1] = line end
  end
  if args[2] ~= "-" then head = head .. "Authorization: Bearer " .. args[2] .. "\r\n" end
  if args[3] == "checked" then response = check end
end

function request()
  count = count + 1
  said = "m" .. count .. "-" .. #sessions
  local body = '{"jsonrpc":"2.0","id":' .. count .. ',"method":"tools/call","params":{"name":"echo","arguments":{"message":"' .. said .. '"}' .. meta .. '}}'
  local session = #sessions == 0 and "" or "Mcp-Session-Id: " .. sessions[count % #sessions + 1] .. "\r\n"
  return head .. session .. "Content-Length: " .. #body .. "\r\n\r\n" .. body
end

function check(status, headers, body)
  if status ~= 200 or not body:find('"Echo: ' .. said .. '"', 1, true) then wrong = wrong + 1 end
end
