import { overSeeds } from './over-seeds.ts'
import story from './told/rewound-sessions.ts'

overSeeds('a lead whose owner goes back over sessions', story)
