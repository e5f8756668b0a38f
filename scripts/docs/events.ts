import { declarationsIn, type Field, table } from './declarations.ts'

/** The page on events, made from their declarations. */
export function eventsPage(): string {
  const ofWorld = declarationsIn('src/protocol/event.ts').get('StandardEvents') ?? []
  const ofRunner = declarationsIn('src/engine/loop/events.ts')
  return `# Events

This page is made from the declarations by \`npm run docs\`.

\`runner.on(type, (event) => { … })\` listens to one type, \`runner.on('*', …)\` to all. Besides its own fields each event has
its \`type\` and the following. A \`?\` marks a field that may be absent.

${fieldTable(ofRunner.get('EventTime') ?? [])}

## Events of the world

The standard systems emit these. Listeners get them after the commit of the tick, so each also has its place in the world's
history:

${fieldTable(ofRunner.get('EventPlace') ?? [])}

${ofWorld.map(section).join('\n\n')}

## Events of the Runner

The Runner emits these as they happen, before any commit. They are not stored.

${(ofRunner.get('RunnerEvents') ?? []).map(section).join('\n\n')}
`
}

function section({ name, meaning, fields }: Field): string {
  return [`### \`${name}\``, ...(meaning === '' ? [] : [meaning]), fieldTable(fields)].join('\n\n')
}

function fieldTable(fields: readonly Field[]): string {
  const rows = fields.map(({ name, type, isOptional, meaning }) => {
    return [`\`${name}\`${isOptional ? '?' : ''}`, `\`${type}\``, meaning]
  })
  return table(['Field', 'Type', 'Meaning'], rows)
}
