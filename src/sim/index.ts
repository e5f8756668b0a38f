export type { Range } from './chance.ts'
export { type Fault, type FaultName, faultNames, type FaultRates, type FaultSite } from './fault.ts'
export {
  type Finding,
  law,
  type Law,
  type LawChecks,
  type LawWatch,
  type PoolEvent,
  type RunFacts,
  setIn,
  type Verdict,
  type WatchedCall,
  type WatchedTick,
  type WatchedWorld,
} from './law.ts'
export { standardLaws } from './laws/index.ts'
export { type Bounds, simulateDefaults, type SimulateOptions } from './options.ts'
export { person, type Person, type PersonAct, type PersonBehaviour, type PersonOptions } from './person.ts'
export type { RealUse } from './real-use.ts'
export {
  type RunningService,
  type RunningServices,
  service,
  type Service,
  type ServiceCaller,
  type ServiceOptions,
  type ServiceRequest,
  type ServiceSet,
  type ServiceStates,
} from './service.ts'
export { simulate, type SimulationResult } from './simulate.ts'
export type { Violation } from './witness.ts'
