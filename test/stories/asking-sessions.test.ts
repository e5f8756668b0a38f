import { overSeeds } from './over-seeds.ts'
import story from './told/asking-sessions.ts'

overSeeds('sessions that ask a user before they buy', story)
