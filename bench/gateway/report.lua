-- What a load came to, in one line of JSON, the last that wrk prints. Scripts count in `wrong` what they have read and found bad.

local threads = {}

function setup(thread) threads[#threads + 1] = thread end

function done(summary, latency)
  local errors = summary.errors
  local bad = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  for _, thread in ipairs(threads) do bad = bad + (thread:get("wrong") or 0) end
  io.write(string.format(
    '\n{"calls":%d,"micros":%d,"p50":%d,"p99":%d,"max":%d,"bad":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency.max, bad
  ))
end
