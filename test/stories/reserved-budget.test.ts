import { overSeeds } from './over-seeds.ts'
import story from './told/reserved-budget.ts'

overSeeds('sessions that wait for budget which others have reserved', story)
