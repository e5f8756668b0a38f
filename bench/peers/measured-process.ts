// Measures one peer in one scenario, and prints the figure.
// Usage: measured-process.ts <peer> <scenario> <runs, or 0 for those of the scenario> [<address of the server>]
import { peers } from './peers.ts'
import { measure, scenarios } from './scenarios.ts'

const [, , name = '', chosen = '', runs = '0', baseURL] = process.argv
const known = peers[name]
const scenario = scenarios[chosen]
if (known === undefined || scenario === undefined) throw new Error(`There is no ${name} or no ${chosen}.`)
const few = Number(runs) > 0 ? { runs: Number(runs), warmUp: 1 } : {}
const { peer } = await known.load()
const figure = await measure(peer, { ...scenario, ...few }, baseURL)
// What a framework has open would keep the process alive.
process.stdout.write(`${figure}\n`, () => process.exit())
