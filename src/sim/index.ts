export { assertLawful, reportOf } from './sweep.ts'
export type { Range } from './chance.ts'
export { type Fault, type FaultName, faultNames, type FaultRates, type FaultSite } from './fault.ts'
export {
  type AtRest,
  type BoardEvent,
  type Finding,
  type LateCall,
  law,
  type Law,
  type LawChecks,
  type LawWatch,
  type PoolEvent,
  type RunFacts,
  setIn,
  type StoreEvent,
  type Verdict,
  type WatchedCall,
  type WatchedLetter,
  type WatchedTick,
  type WatchedWorld,
} from './law.ts'
export type { RunFactsDetails } from './run-facts.ts'
export { standardLaws } from './laws/index.ts'
export { type Bounds, type OnMiss, simulateDefaults, type SimulatedLetter, type SimulateOptions } from './options.ts'
export {
  simulatedUser,
  type SimulatedUser,
  type SimulatedUserOptions,
  type UserAct,
  type UserBehaviour,
} from './simulated-user.ts'
export type { RealUse } from './real-use.ts'
export { loadRecording } from './recording/recording-file.ts'
export type { Missed } from './recording/missed.ts'
export type { RequestDifference } from './recording/missed.ts'
export { saveRecording, saveRun } from './recording/recording-file.ts'
/* oxlint-disable typescript/no-deprecated -- importable for one more version */
export {
  person,
  type Person,
  type PersonAct,
  type PersonBehaviour,
  type PersonOptions,
  replaySaved,
  type SavedRecording,
} from './deprecated.ts'
/* oxlint-enable typescript/no-deprecated */
export type { ReplayedWorld } from '../engine/recording/replay.ts'
export type { SavedWorld } from '../engine/recording/recording.ts'
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
export { shrink, type ShrinkBounds, shrinkDefaults, type ShrunkCase } from './shrink.ts'
export { simulate, type SimulationResult } from './simulate.ts'
export {
  sweep,
  sweepDefaults,
  type SweepFailure,
  type SweepOptions,
  type SweepProgress,
  type SweepResult,
  type SweepRun,
} from './sweep.ts'
export { timelinePage } from './timeline-page.ts'
export type { ComponentChanges, Concern, TickChanges } from './tick-changes.ts'
export type { TraceEntry } from './trace-entry.ts'
export type { StruckFault, Violation } from './run-recorder.ts'
