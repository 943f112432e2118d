"""allstreets upi: PioSOLVER's text protocol on standard input and output."""

import sys
from io import TextIOWrapper


def upi() -> None:
    """Let programs written for PioSOLVER drive this solver: its protocol on stdin and stdout.

    \b
    Examples:
      allstreets upi
      allstreets upi < script.txt > answers.txt

    \b
    A script, one command a line; each is answered in turn:
      set_board QsJh2h8c3d
      set_range OOP AA,QQ,98s
      set_range IP KK,JJ,AQs
      set_pot 0 0 60
      set_eff_stack 100
      add_line 30 100 100
      add_line 0 30 100 100
      build_tree
      set_accuracy 0.1 chips
      go
      wait_for_solver
      show_children r:0
      show_strategy r:0
      calc_ev OOP r:0
      dump_tree "solved spot"
      exit

    The number of a bet (r:0:b30) is all that its player has put in since the root. dump_tree and
    load_tree write and read folders of allstreets, not .cfr files. docs/upi.md lists the commands.
    """
    from allstreets.interop import Session

    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # a client's stray bytes do not end the session

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    # Not `for line in sys.stdin`, which may read ahead while a client waits for its answer.
    Session(write).run(iter(sys.stdin.readline, ""))
