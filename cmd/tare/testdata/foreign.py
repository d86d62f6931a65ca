# A process of somebody else's, which notices what is done to it: signals, and times in
# which it neither ran nor slept nor waited for a CPU. It has one thread and no runtime
# that moves it, so that what is lost was taken from outside. "busy" or "asleep" is its
# argument, and the number of its user; it ends with its input and prints what it noticed.
import json, os, select, signal, sys, time

TURN = 0.001
LOST = 1  # seconds at once; a busy host's kernel accounts for less now and then

signals, lost, turns = [], [], 0
for s in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(s, lambda number, _: signals.append(signal.Signals(number).name))

schedstat = os.open("/proc/self/schedstat", os.O_RDONLY)
stat = os.open("/proc/stat", os.O_RDONLY)


def stolen():  # from each CPU, by the machine below
    lines = os.pread(stat, 1 << 16, 0).split(b"\n")[1:]
    return [int(l.split()[8]) / os.sysconf("SC_CLK_TCK") for l in lines if l.startswith(b"cpu")]


def lately(before):  # at most: the process was on one CPU at a time
    return max(b - a for a, b in zip(before, stolen()))


def clocks():
    waited = int(os.pread(schedstat, 100, 0).split()[1]) * 1e-9
    return time.monotonic(), time.clock_gettime(time.CLOCK_THREAD_CPUTIME_ID), waited


# It is to notice, and not to compete: beside two of them that spin at the usual weight
# Linux 6.18 let a control group with runnable threads wait for ten seconds and more.
os.nice(19)
if os.path.exists("/proc/self/autogroup"):
    with open("/proc/self/autogroup", "w") as f:
        f.write("19")
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2]))
print("ready", flush=True)
was, taken = clocks(), stolen()
while not select.select([0], [], [], 0)[0]:
    slept = 0
    if sys.argv[1] == "busy":
        begin = time.monotonic()
        while time.monotonic() - begin < TURN:
            pass
    else:
        time.sleep(TURN)
        slept = TURN
    now = clocks()
    gap = [a - b for a, b in zip(now, was)]
    missing = gap[0] - gap[1] - gap[2] - slept
    if missing > LOST:
        missing -= lately(taken)
        if missing > LOST:
            lost.append(round(missing, 3))
        now = clocks()
    if turns % 50 == 0 or gap[0] > 50 * TURN:
        taken = stolen()
    was = now
    turns += 1
print(json.dumps({"signals": signals, "lost": lost, "turns": turns}))
