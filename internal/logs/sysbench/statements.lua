-- Runs a user's SQL. In front of this text, tare puts the table `steps`: each is
-- a statement (sql) with its place (at), a number to draw (name, low, high), or a jump to another step (to)
-- unless the number of a name has a relation to another (name, op, low).

local values, connection = {}, nil

local draws = false
for _, s in ipairs(steps) do
   draws = draws or s.name ~= nil
end

function thread_init()
   connection = sysbench.sql.driver():connect()
end

function thread_done()
   connection:disconnect()
end

local holds = {
   [""] = function() return false end,
   ["="] = function(a, b) return a == b end,
   ["<>"] = function(a, b) return a ~= b end,
   ["<"] = function(a, b) return a < b end,
   ["<="] = function(a, b) return a <= b end,
   [">"] = function(a, b) return a > b end,
   [">="] = function(a, b) return a >= b end,
}

-- Errors that sysbench ignores, a deadlock for example, are tables; sysbench begins the event anew.
local function run(s, text)
   local done, why = pcall(connection.query, connection, text)
   if not done then
      error(type(why) == "string" and s.at .. ": " .. why:gsub("^%S*:%d+: ", "") or why, 0)
   end
end

function event()
   local i, last = 1, #steps
   while i <= last do
      local s = steps[i]
      i = i + 1
      if s.to then
         if not holds[s.op](tonumber(values[s.name]), s.low) then
            i = s.to
         end
      elseif s.name then
         values[s.name] = string.format("%d", sysbench.rand.uniform(s.low, s.high))
      elseif draws then
         run(s, (s.sql:gsub(":([%a_][%w_]*)", values)))
      else
         run(s, s.sql)
      end
   end
end
