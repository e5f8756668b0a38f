import { overSeeds } from './over-seeds.ts'
import story from './told/last-step-waits.ts'

overSeeds('waits that begin in the last step of a turn', story)
