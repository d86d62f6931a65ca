# A process of somebody else's, which notices every signal that it gets. "busy" or "asleep"
# is its argument, and the number of its user; it ends with its input and prints what it
# noticed.
import json, os, select, signal, sys, time

TURN = 0.001

signals, turns = [], 0
for s in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(s, lambda number, _: signals.append(signal.Signals(number).name))

# It is to notice, and not to compete: beside two of them that spin at the usual weight
# Linux 6.18 let a control group with runnable threads wait for ten seconds and more.
os.nice(19)
if os.path.exists("/proc/self/autogroup"):
    with open("/proc/self/autogroup", "w") as f:
        f.write("19")
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2]))
print("ready", flush=True)
while not select.select([0], [], [], 0)[0]:
    if sys.argv[1] == "busy":
        begin = time.monotonic()
        while time.monotonic() - begin < TURN:
            pass
    else:
        time.sleep(TURN)
    turns += 1
print(json.dumps({"signals": signals, "turns": turns}))
