import { simulate } from 'entia/sim'
import { smallTeam } from '../sim/small-team.ts'

/** Prints the hashes of one simulated run, under a seed that is named. */
const faults = { model: { overloaded: 0.1 }, tool: { throws: 0.1 }, crash: { perTick: 0.03 }, delivery: { late: 0.1 } }
const result = await simulate({ ...smallTeam, seed: Number(process.argv[2]), faults })
process.stdout.write(JSON.stringify({ trace: result.trace.hash, world: result.hash, faults: result.faults.length }))
