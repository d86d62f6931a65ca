-- Counts the events of a sysbench script in memory that tare shares. In front
-- of this text, tare puts the table `tare`: where the words are (in bytes), the
-- script, and the rate of an open loop. Every thread of sysbench has a Lua
-- state of its own and loads this anew.
--
-- A slot has one writer, this thread. Stores are plain: the reader looks while
-- the thread is frozen, or takes them at some moment.
--
-- An event must cost little also where LuaJIT has not compiled this: about
-- 0.7 µs then, and 80 ns else (bench_test.go). 64-bit integers are slow to read
-- then, so none is: what this thread wrote it knows, buckets are read by their
-- lower halves (tare runs on little-endian machines only), and times are
-- doubles, exact for 104 days from the start.

-- sysbench reads the options of a script when it has loaded it, and holds the
-- text of their defaults by addresses only (1.0 and 1.1): a collection between
-- the two frees it, and defaults become 0. It falls there more often the more
-- text is loaded, so nothing is collected until the options have been read.
collectgarbage("stop")

local found, ffi = pcall(require, "ffi")
if not found then
   error("tare: this sysbench has no LuaJIT FFI for a hook; hook=off runs one sysbench for each window", 0)
end
local bit = require("bit")

ffi.cdef[[
typedef struct { int32_t sec, sec_high, nsec, nsec_high; } tare_time;
typedef union { double value; struct { int32_t low, high; }; } tare_bits;
typedef struct { double at, x, n; } tare_stream;
typedef struct { double began, thaw, done, cuts; } tare_thread;
typedef struct {
   uint64_t lock[16];
   double thaw;
   tare_stream next, due;
} tare_schedule;
void *tare_mmap(void *, size_t, int, int, int, int64_t) __asm__("mmap");
int tare_clock(int, tare_time *) __asm__("clock_gettime");
int tare_sleep(int, int, const tare_time *, tare_time *) __asm__("clock_nanosleep");
long tare_futex(long, uint32_t *, long, long, const tare_time *, void *, long) __asm__("syscall");
int tare_spin_init(int *, int) __asm__("pthread_spin_init");
int tare_spin_try(int *) __asm__("pthread_spin_trylock");
int tare_mutex_attr(void *) __asm__("pthread_mutexattr_init");
int tare_mutex_shared(void *, int) __asm__("pthread_mutexattr_setpshared");
int tare_mutex_init(void *, void *) __asm__("pthread_mutex_init");
int tare_mutex_lock(void *) __asm__("pthread_mutex_lock");
int tare_mutex_unlock(void *) __asm__("pthread_mutex_unlock");
int tare_prctl(int, unsigned long, unsigned long, unsigned long, unsigned long) __asm__("prctl");
]]

local C, cast = ffi.C, ffi.cast
local clock, spin_try = C.tare_clock, C.tare_spin_try
local MONOTONIC, ABSTIME = 1, 1

local function map(fd, bytes)
   local READ_WRITE, SHARED = 3, 1
   local p = C.tare_mmap(nil, bytes, READ_WRITE, SHARED, fd, 0)
   if cast("intptr_t", p) == -1 then
      error("tare: cannot map descriptor " .. fd)
   end
   return cast("char *", p)
end

-- A counter. Doubles become signed integers in one instruction.
local function word(base, offset)
   return cast("int64_t *", base + offset)
end

local function lower(base, offset)
   return cast("uint32_t *", base + offset)
end

-- The bucket of a latency in nanoseconds, as record.Bucket: `half` buckets for
-- each power of two from there on. The exponent and the first bits of the
-- fraction of a double are just that number, but for where it begins.
local half, last, limit = tare.linear / 2, tare.n - 1, tare.limit
local fraction = math.floor(math.log(half) / math.log(2) + 0.5)
local drop, begin = 20 - fraction, (1023 + fraction - 1) * half
local bits = ffi.new("tare_bits")

local function bucket(ns)
   if ns < half then
      return ns < 0 and 0 or math.floor(ns)
   elseif ns >= limit then
      return last
   end
   bits.value = ns
   return bit.rshift(bits.high, drop) - begin
end

tare.bucket = bucket -- for tests

-- Nanoseconds since the origin, a moment before sysbench started.
local stamp = ffi.new("tare_time")
local origin_sec, origin_nsec = tare.origin_sec, tare.origin_nsec

local function now()
   clock(MONOTONIC, stamp)
   return (stamp.sec - origin_sec) * 1e9 + (stamp.nsec - origin_nsec)
end

local moment = ffi.new("tare_time")

local function sleep_until(at)
   at = at + origin_nsec
   local sec = math.floor(at / 1e9)
   moment.sec, moment.nsec = origin_sec + sec, at - sec * 1e9
   C.tare_sleep(MONOTONIC, ABSTIME, moment, nil)
end

-- LuaJIT has no barrier; trying a lock of the C library that is taken is one
-- on x86. (On arm64 a paused thread may, very rarely, still begin an event.)
local barrier = ffi.new("int[1]")
C.tare_spin_init(barrier, 0)
spin_try(barrier)

-- Sleeps until the gate is opened, which wakes it, and at most 100 ms.
local nap = ffi.new("tare_time", {nsec = 1e8})

local function wait_at(gate)
   local WAIT, CLOSED = 0, 1
   C.tare_futex(tare.futex, gate, WAIT, CLOSED, nap, nil, 0)
end

-- The open loop: all threads take from one Poisson schedule, as in
-- internal/loads/load/arrivals.go. It begins anew at every thaw, so a pause leaves
-- no debt; the same seed gives the same gaps.
local LOOK = 1e7 -- ns; at most so late after a pause
local MODULUS = 2147483647

-- One exponential gap. Lehmer's generator with the multiplier of Park, Miller
-- and Stockmeyer (1993): exact in doubles.
local function step(s)
   s.x = (s.x * 48271) % MODULUS
   s.at = s.at - math.log(s.x / MODULUS) * tare.gap
   s.n = s.n + 1
end

local function start(s, seed, at)
   s.x = tonumber(seed % 2147483646ULL) + 1
   for _ = 1, 4 do -- seeds that are near each other begin alike
      s.x = (s.x * 48271) % MODULUS
   end
   s.at, s.n = at, -1
   step(s)
end

-- The next arrival, and how many are due but not taken at a moment.
local function take(schedule, seed, at, of)
   C.tare_mutex_lock(schedule)
   if schedule.thaw ~= of then
      schedule.thaw = of
      start(schedule.next, seed[0], at)
      start(schedule.due, seed[0], at)
   end
   local mine = schedule.next.at
   step(schedule.next)
   while schedule.due.at <= at do
      step(schedule.due)
   end
   local waiting = schedule.due.n - schedule.next.n
   C.tare_mutex_unlock(schedule)
   return mine, waiting
end

-- open_loop returns what waits for the next arrival, enters, and says when the
-- arrival was meant to be.
local function open_loop(base, id, my, gate, thawed, busy, enter)
   local TIMERSLACK = 29
   C.tare_prctl(TIMERSLACK, 1, 0, 0, 0)
   local schedule = cast("tare_schedule *", map(tare.schedule, tare.schedule_bytes))
   local seed = cast("uint64_t *", base + tare.seed)
   local late = word(base + tare.first + id * tare.stride, tare.late_at)
   local backlog = word(base + tare.first, tare.backlog) -- of all threads, in slot 0
   local lates = tonumber(late[0])
   tare.take = function(at, of) return take(schedule, seed, at, of) end -- for tests
   return function()
      while true do
         while gate[0] ~= 0 do
            wait_at(gate)
         end
         local of = thawed[0]
         local due, waiting = take(schedule, seed, now(), of)
         backlog[0] = math.max(waiting, 0)
         local t = now()
         while t < due and thawed[0] == of and gate[0] == 0 do
            sleep_until(math.min(due, t + LOOK))
            t = now()
         end
         if thawed[0] == of then
            enter()
            if my.thaw == of then
               if now() - due > tare.late then
                  lates = lates + 1
                  late[0] = lates
               end
               return due
            end
            busy[0] = 0
         end
      end
   end
end

-- hooked returns what counts a script's event() for one thread. All that it
-- looks at is local to it and never assigned again: LuaJIT then has the
-- addresses as constants in its code. What changes lies in one line of the
-- cache; between two events the database has used the cache for its own.
local function hooked(id, real)
   local base = map(tare.fd, tare.bytes)
   local slot = base + tare.first + id * tare.stride
   -- thawed is an integer; as a double it serves to be compared with itself.
   local gate, thawed = lower(base, tare.gate), cast("double *", base + tare.thawed)
   local ops, cut, busy = word(slot, tare.ops), word(slot, tare.cut), word(slot, tare.busy)
   local buckets = lower(slot, tare.buckets)
   local my = ffi.new("tare_thread")
   my.done, my.cuts = tonumber(ops[0]), tonumber(cut[0])

   -- Marks an event as in flight; the mark comes before the look at the gate, as
   -- counter.Memory.Begin has it.
   local function enter()
      busy[0] = 1
      spin_try(barrier)
      while gate[0] ~= 0 do
         busy[0] = 0
         wait_at(gate)
         busy[0] = 1
         spin_try(barrier)
      end
      my.thaw = thawed[0]
   end

   -- open and close are functions without a loop in them: LuaJIT compiles them
   -- by themselves, also where it cannot compile what is around the event.
   local function open()
      enter()
      my.began = now()
   end

   local function close()
      local ns = now() - my.began
      if thawed[0] ~= my.thaw then -- a pause fell into it
         my.cuts = my.cuts + 1
         cut[0] = my.cuts
      else
         local b = 2 * bucket(ns)
         buckets[b] = buckets[b] + 1
      end
      my.done = my.done + 1
      ops[0] = my.done
      busy[0] = 0
   end

   local begin = open
   if tare.gap > 0 then
      local arrive = open_loop(base, id, my, gate, thawed, busy, enter)
      begin = function() my.began = arrive() end
   end

   -- In place of the script's event(). sysbench calls it again after an error
   -- that it ignores, a deadlock for example: the event then still goes on, and
   -- it is no error, for sysbench neither.
   local flying = false
   return function(id)
      if not flying then
         flying = true
         begin()
      end
      local stop = real(id)
      flying = false
      if stop then -- sysbench does not count this one
         busy[0] = 0
         return stop
      end
      close()
   end
end

local loop = thread_run -- sysbench's own

if tare.script:find("/", 1, true) then
   package.path = tare.script:match("(.*/)") .. "?.lua;" .. package.path
   dofile(tare.script)
else
   dofile(assert(package.searchpath(tare.script, package.path)))
end

if thread_run ~= loop or not event then
   error("tare: the script has a loop of its own and no event() to count; hook=off runs one sysbench for each window", 0)
end

local script_init, script_thread_init = init, thread_init

function init()
   collectgarbage("restart")
   if tare.gap > 0 then
      local s = cast("tare_schedule *", map(tare.schedule, tare.schedule_bytes))
      local attributes, SHARED = ffi.new("uint64_t[8]"), 1
      C.tare_mutex_attr(attributes)
      C.tare_mutex_shared(attributes, SHARED)
      C.tare_mutex_init(s, attributes)
      s.thaw = -1 -- it has not begun
   end
   if script_init then
      return script_init()
   end
end

function thread_init(id)
   collectgarbage("restart")
   if script_thread_init then
      script_thread_init(id)
   end
   id = id or sysbench.tid
   if id >= tare.slots then
      error("tare: thread " .. id .. " has no slot")
   end
   event = hooked(id, event)
end
