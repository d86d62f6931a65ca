-- Runs a user's SQL. In front of this text, tare puts the table `steps`: each is
-- a statement (sql) or a number to draw (name, low, high).

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

function event()
   for i = 1, #steps do
      local s = steps[i]
      if s.name then
         values[s.name] = string.format("%d", sysbench.rand.uniform(s.low, s.high))
      elseif draws then
         connection:query((s.sql:gsub(":([%a_][%w_]*)", values)))
      else
         connection:query(s.sql)
      end
   end
end
