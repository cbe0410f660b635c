"""The text form of the IR: printed for people who debug a pass, and read again by the tests of passes.

``printer`` writes it, ``reader`` reads it; what is printed reads back as the same IR. One construct a line, blocks
closed by ``end``, ``//`` begins a comment, and a line goes on inside brackets. The form is near to CAL:

* Types are ``i32``, ``u8``, ``i5`` (``int(size=5)``), ``f16``, ``f32``, ``f64``, ``bool``, ``str``, ``list<8 x i32>``.
* A name that is no plain word, or a reserved one, stands in single quotes. The name that the user wrote follows in
  double quotes where it is another: ``local x_1 "x": i32``. References to ports, actions and states are names, or
  ``#3`` where the name does not say which.
* The type of an operation, a variable, an element or a call is left out where the rules of ``dse.program.typing`` and
  the declarations give it (``declared`` has the exact rule); else the operation stands as ``(a + b as i32)``.
* A literal is of the smallest type that holds it (``f32`` with a point), or marked: ``5i32``, ``1.0f64``, and ``2f32``
  for an integer that is of a float type. ``-5`` is a literal, ``-(5)`` an operation.
* ``list<3 x u8>{1, 2, 3}`` is a ``ConstList``, in which ``64 x 0`` is a value 64 times over; with square brackets it
  is a ``ListExpr`` or a ``Generator``. ``i8(e)`` is a ``Cast``.
* Where a type is expected, a list without a type is of that type: as the initial value of a variable, and as an element
  of a list.
* With spans, a statement or declaration has ``@line:column-line:column`` in front, a name or expression has it behind;
  a span in another file than the actor's begins with the file's name.
"""
