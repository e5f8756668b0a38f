import { overSeeds } from './over-seeds.ts'
import story from './told/background-shells.ts'

overSeeds('agents that wait for shells in the background', story)
