import { simulate } from 'entia/sim'
import story from '../stories/told/subtasks.ts'

/** Prints the trace hashes of the first two simulated runs of a process, under a seed that is named. */
const seed = Number(process.argv[2])
const first = await simulate({ ...story, seed })
const second = await simulate({ ...story, seed })
process.stdout.write(JSON.stringify([first.trace.hash, second.trace.hash]))
