// Drives a world, says so, and goes on until it is killed. Usage: world-driver.ts <folder> <world>
import { drivenWorld } from '../cli/driven-world.ts'

const [, , folder = '', name = ''] = process.argv
await drivenWorld(folder, name)
process.stdout.write('driven\n')
setInterval(() => undefined, 60_000)
