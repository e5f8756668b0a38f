import { callsOfStep } from './step-calls.ts'

/** Prints the functions that a step calls, by file, so that the lists before and after a change can be compared. */
const [callsPerTurn = '50'] = process.argv.slice(2)

const byFile = Map.groupBy(await callsOfStep(Number(callsPerTurn)), ({ file }) => file)
const files = [...byFile].map(([file, functions]) => ({
  calls: functions.reduce((sum, { calls }) => sum + calls, 0),
  file,
  named: functions.map(({ calls, name }) => `${name} ${calls.toFixed(1)}`).join(', '),
}))
for (const { calls, file, named } of files.toSorted((a, b) => b.calls - a.calls))
  console.log(`${calls.toFixed(1).padStart(7)}  ${file}: ${named}`)
