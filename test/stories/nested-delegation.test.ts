import { overSeeds } from './over-seeds.ts'
import story from './told/nested-delegation.ts'

overSeeds('diggers that send diggers, with room for one session', story)
