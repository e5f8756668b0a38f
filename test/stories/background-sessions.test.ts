import { overSeeds } from './over-seeds.ts'
import story from './told/background-sessions.ts'

overSeeds('a lead with sessions in the background', story)
