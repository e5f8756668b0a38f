import type { Row } from './row.ts'

/** What there is to measure, by name, in the order in which it is measured. */
export const subjects: Readonly<Record<string, () => Promise<{ readonly measure: () => Promise<Row[]> }>>> = {
  step: () => import('./step.ts'), //          a model call and a tool call, in process
  'step-calls': () => import('./step-calls.ts'), // the same, in function calls
  journal: () => import('./journal.ts'), //    the same with SQLite behind it; its size; its way back
  start: () => import('./start.ts'), //        many agents at once
  memory: () => import('./memory.ts'), //      what agents weigh
  idle: () => import('./idle.ts'), //          ticks in which nothing happens
  http: () => import('./http.ts'), //          many agents on the real SDK
  import: () => import('./import.ts'), //      the package, as a program loads it
  'sessions-speed': () => import('./sessions-speed.ts'), //     many sessions of an agent
  'sessions-waiting': () => import('./sessions-waiting.ts'), // those that wait, for slots and for each other
  'sessions-weight': () => import('./sessions-weight.ts'), //   what they weigh
  'sessions-fork': () => import('./sessions-fork.ts'), //       a fork of a long conversation
  'sim-speed': () => import('./sim-speed.ts'), //   simulated runs, one after the other
  'sim-crowd': () => import('./sim-crowd.ts'), //   one simulated world with many agents
  'context-idle': () => import('./context-idle.ts'), // what keeps a context alive, while it has nothing to do
  archiving: () => import('./archiving.ts'), //   a long turn that moves to a holder
  'long-run': () => import('./long-run.ts'), //    what is sent to models while many files are read
  worlds: () => import('./worlds.ts'), //      turns by ask, and many Worlds that take turns in few places
  'postgres-commits': () => import('./postgres-commits.ts'), // commits of worlds in Postgres, and a search
  'postgres-parked': () => import('./postgres-parked.ts'), // worlds that wait there
  'fleet-sessions': () => import('./fleet-sessions.ts'), // sessions by worker processes
  'fleet-claims': () => import('./fleet-claims.ts'), //     sessions that a large fleet gives away
  'fleet-rest': () => import('./fleet-rest.ts'), //         workers that have nothing to do
  'fleet-tenants': () => import('./fleet-tenants.ts'), //   one tenant's flood
  tools: () => import('./tools.ts'), //        built-in tools on many files, and on a large one
  policy: () => import('./policy.ts'), //      decisions about calls of tools
  mcp: () => import('./mcp.ts'), //            calls of MCP servers, and servers that are configured
  workspace: () => import('./workspace.ts'), // a turn of an agent that keeps many results
  'inspector-cost': () => import('./inspector-cost.ts'), // what an inspector costs the Runner that it shows
  snapshot: () => import('./snapshot.ts'), //  a world saved and restored
}
