import { overSeeds } from './over-seeds.ts'
import story from './told/waits-and-timeouts.ts'

overSeeds('sessions and waits that run out of time', story)
