// The project's own words, one for each idea, as names use them. docs/ARCHITECTURE.md has the same text.
//
// allocation: memory that the runtime knows: its address, size, place, and who made it.
// backend: what makes devices real: emulated or cuda.
// board: the memory file in which a process shows its shared objects to others.
// effect: a short task that opens a gate.
// engine: a thread of an emulated device that executes queues.
// gate: what holds a queue from outside its timelines: a notify, a shared event, a word in device memory.
// notify: a binary signal, cleared by its wait, shared between streams and processes.
// observer: what is told of copies, allocations and waits, such as the tracer.
// path: one way to execute a copy on a GPU: driver copy, driver batch, kernel, staging.
// place: where bytes live: pageable host, pinned host, device n.
// plan: the task that a request turns into, after all checks, with its timing.
// point: {timeline, sequence number}. An event is a point.
// profile: the chip and the CANN release that are imitated.
// rule: one statement of docs/BEHAVIOUR.md, or one row of a table, with a stable id.
// schedule: the order in which an emulated device executes tasks: parallel, early, late, or by a seed.
// segment: one contiguous transfer {dst, src, bytes}.
// task: what a queue executes: a copy, rows, a batch, a fill, a reduction, a wait, a mark, a host function.
// timeline: a number that only grows, one per queue: the sequence number of the last completed task.
// turn: the right to execute a queue, held by one thread at a time.
// use: a task's claim on an allocation. Addresses are reused only when no use is left.
#pragma once
