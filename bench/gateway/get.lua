-- GETs of one address: wrk … -s get.lua URL -- TOKEN|- HOST|-

dofile(debug.getinfo(1, "S").source:match("^@?(.*/)") .. "report.lua")

function init(args)
  if args[1] ~= "-" then wrk.headers["Authorization"] = "Bearer " .. args[1] end
  if args[2] ~= "-" then wrk.headers["Host"] = args[2] end
  local get = wrk.format()
  request = function() return get end
end
