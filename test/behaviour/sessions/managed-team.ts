import { type Asked, type Behaviour, provider, team, type Team, type TeamOptions } from './team.ts'

/** A team with managers between the lead and the workers. */
export interface ManagedTeam extends Team {
  /** Calls of the managers' model so far. */
  readonly managing: readonly Asked[]
}

/** A team whose lead may delegate to a `manager` besides, who may delegate to whomever the lead may. */
export function managedTeam(options: TeamOptions & { readonly managers: Behaviour }): ManagedTeam {
  const { managers, runner = {}, subagents = { researcher: {} }, ...rest } = options
  const managing: Asked[] = []
  const models = { ...runner.models, manager: provider('manager', managers, {}, managing) }
  const manager = { model: 'manager/x', inheritancePolicy: { inheritTools: ['subagent'] } }
  const made = team({ ...rest, runner: { ...runner, models }, subagents: { manager, ...subagents } })
  return { ...made, managing }
}
