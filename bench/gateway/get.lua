-- GETs of one address: wrk … -s get.lua URL -- TOKEN|- HOST|-

function init(args)
  if args[1] ~= "-" then wrk.headers["Authorization"] = "Bearer " .. args[1] end
  if args[2] ~= "-" then wrk.headers["Host"] = args[2] end
  local get = wrk.format()
  request = function() return get end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"calls":%d,"micros":%d,"p50":%d,"p99":%d,"max":%d,"bad":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency.max,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
