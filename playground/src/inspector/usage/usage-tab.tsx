import { cacheHitRate } from '../../../../src/context.ts'
import type { Usage } from '../../../../src/index.ts'
import type { TokenRates } from '../../../../src/models.ts'
import { count, dollarsOf, duration, percent, short } from '../../parts/figures.ts'
import { spentAt, spentOn } from '../../state/log/spent.ts'
import type { TabProps } from '../tab-props.ts'
import { ContextGauge } from './context-gauge.tsx'
import { TurnUsage } from './turn-usage.tsx'

/** The conversation's usage and cost, and how full its context is. */
export function UsageTab({ appState, conversation }: TabProps) {
  const state = conversation.state.value
  const { model } = conversation.chat
  const { usage, turns } = state
  const spent = spentOn(state, model.cost)
  const first = turns[0]
  const last = turns.at(-1)
  const took =
    first === undefined || last === undefined
      ? 0
      : turns.reduce((sum, turn) => sum + ((turn.endedAt ?? turn.startedAt) - turn.startedAt), 0)
  return (
    <div class="usage-tab" data-testid="usage">
      <ContextGauge conversation={conversation} />
      <dl class="figures">
        <Figure
          name="Cost"
          value={dollarsOf(spent)}
          hint={
            model.isScripted
              ? 'at example prices; the model is scripted'
              : spent !== undefined
                ? ''
                : 'the prices of this model are unknown'
          }
        />
        <Figure name="Tokens" value={count(usage.totalTokens)} />
        <Figure name="Turns" value={count(turns.length)} />
        <Figure name="In turns" value={duration(took)} />
        <Figure name="From cache" value={percent(cacheHitRate(usage))} />
        <Figure name="Retries" value={count(state.retries)} hint="of the newest run" />
      </dl>
      <table class="figure-table">
        <caption class="visually-hidden">Tokens and their cost</caption>
        <thead>
          <tr>
            <th scope="col">Kind</th>
            <th scope="col" class="number">
              Tokens
            </th>
            <th scope="col" class="number">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {kinds.map(({ name, of, rate }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{count(of(usage))}</td>
              <td class="number">{dollarsOf(spentAt(state, model.cost, rate))}</td>
            </tr>
          ))}
          <tr>
            <th scope="row" class="soft">
              of output: reasoning
            </th>
            <td class="number soft">{short(usage.reasoning)}</td>
            <td />
          </tr>
        </tbody>
      </table>
      <TurnUsage turns={turns} cost={model.cost} selection={appState.selection.value} onSelect={appState.select} />
    </div>
  )
}

const kinds: readonly { name: string; of: (usage: Usage) => number; rate: keyof TokenRates }[] = [
  { name: 'Input', of: ({ input }) => input, rate: 'inputPerMillion' },
  { name: 'Read from cache', of: ({ cacheRead }) => cacheRead, rate: 'cacheReadPerMillion' },
  { name: 'Written to cache', of: ({ cacheWrite }) => cacheWrite, rate: 'cacheWritePerMillion' },
  { name: 'Output', of: ({ output }) => output, rate: 'outputPerMillion' },
]

function Figure({ name, value, hint = '' }: { name: string; value: string; hint?: string }) {
  return (
    <div title={hint}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
