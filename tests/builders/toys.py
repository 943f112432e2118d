"""Kuhn and Leduc poker in sequence form, made once in a process."""

from allstreets.cfr import Kuhn, Leduc, compile_game, sequence_form

KUHN = sequence_form(compile_game(Kuhn()))
LEDUC = sequence_form(compile_game(Leduc()))
