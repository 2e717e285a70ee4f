import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AgentEvent, type Model, textOf } from 'phi-core'
import { parallelLoop } from 'phi-core/loop'
import { scripted } from 'phi-core/testing'
import { describe, expect, it } from 'vitest'
import { fromFile } from '../../examples/recipes/agents/agent-file.ts'
import { besideTheRun } from '../../examples/recipes/agents/background-agents.ts'
import { firstJson } from '../../examples/recipes/agents/first-good-branch.ts'
import { judged } from '../../examples/recipes/agents/parallel-loops.ts'
import { profiled } from '../../examples/recipes/agents/profiles.ts'
import { throughLedger } from '../../examples/recipes/agents/rust-ledger.ts'
import { skilled } from '../../examples/recipes/agents/skills.ts'
import { delegated } from '../../examples/recipes/agents/sub-agents.ts'
import { longTalk } from '../../examples/recipes/context/compaction.ts'
import { withSummaries } from '../../examples/recipes/context/llm-summaries.ts'
import { longResult } from '../../examples/recipes/context/offload.ts'
import { pruned } from '../../examples/recipes/context/pruning.ts'
import { captured } from '../../examples/recipes/context/request-capture.ts'
import { wentBack } from '../../examples/recipes/context/revert.ts'
import { choose } from '../../examples/recipes/models/choices.ts'
import { ownFields } from '../../examples/recipes/models/escape-hatch.ts'
import { fallsBack } from '../../examples/recipes/models/fallback.ts'
import { takeTurns } from '../../examples/recipes/models/limiter.ts'
import { askedAtNight } from '../../examples/recipes/runs/approval-in-a-hook.ts'
import { sharedBudget } from '../../examples/recipes/runs/budgets.ts'
import { hooked } from '../../examples/recipes/runs/hooks.ts'
import { filtered } from '../../examples/recipes/runs/input-filters.ts'
import { guarded } from '../../examples/recipes/runs/output-guardrail.ts'
import { planThenWork } from '../../examples/recipes/runs/prepare-turn.ts'
import { watchedByScripts } from '../../examples/recipes/runs/script-hooks.ts'
import { whenItEnds } from '../../examples/recipes/runs/stop-conditions.ts'
import { tracedToConsole } from '../../examples/recipes/servers/tracing.ts'
import { tree } from '../../examples/recipes/sessions/event-recorder.ts'
import { handOver } from '../../examples/recipes/sessions/hand-over-session.ts'
import { recorded } from '../../examples/recipes/sessions/recorded-agent.ts'
import { replay } from '../../examples/recipes/sessions/replay.ts'
import { afterCrash } from '../../examples/recipes/sessions/resume-session.ts'
import { branched } from '../../examples/recipes/sessions/snapshots.ts'
import { paint } from '../../examples/recipes/tools/client-tools.ts'
import { weather } from '../../examples/recipes/tools/json-schema-tool.ts'
import { petKeeper } from '../../examples/recipes/tools/openapi.ts'
import { planTogether } from '../../examples/recipes/tools/shared-state.ts'
import { blocksOf } from '../docs/snippets.ts'

type Program = (write: (line: string) => void) => Promise<void>

/** What a page says that a program writes, its first one unless told: the block after it. */
function shown(page: string, source?: string): string {
  const blocks = blocksOf(readFileSync(`docs/concepts/${page}.md`, 'utf8'))
  const at = blocks.findIndex((block) => (source === undefined ? block.language === 'ts' : block.source === `examples/recipes/${source}`))
  return blocks[at + 1]?.code ?? `${source} is not on the page.`
}

async function written(program: Program): Promise<string> {
  let text = ''
  await program((line) => {
    text += `${line}\n`
  })
  // The pages show one of the random marks.
  return text.replace(/<<[0-9a-z]{8}/g, '<<k3f9a2b1').replace(/[0-9a-z]{8}>>/g, 'k3f9a2b1>>')
}

/** The program in a directory of its own, which is gone afterwards. */
function inDirectory(program: (directory: string, write: (line: string) => void) => Promise<void>): Program {
  return async (write) => {
    const directory = mkdtempSync(join(tmpdir(), 'phi-example-'))
    await program(directory, write).finally(() => rmSync(directory, { recursive: true }))
  }
}

describe('a page says what its program writes', () => {
  it.each([
    ['configuration', fromFile],
    ['hooks', hooked],
    ['openapi', petKeeper],
    ['input-filters', filtered],
    ['budgets', sharedBudget],
    ['context-and-compaction', longTalk],
    ['pruning', pruned],
    ['revert', wentBack],
    ['request-capture', captured],
    ['sub-agents', delegated],
    ['background-agents', besideTheRun],
    ['stop-conditions', whenItEnds],
    ['tracing', tracedToConsole],
    ['parallel-loops', judged],
    ['continuations-and-snapshots', branched],
    ['profiles-and-prompts', profiled],
    ['skills', skilled],
    ['sessions', recorded],
    ['client-tools', paint],
    ['shared-state', planTogether],
    ['choices', choose],
    ['session-tree', tree],
  ])('%s', async (page, program) => expect(await written(program)).toBe(shown(page)))

  it.each<[string, string, Program]>([
    ['request-settings', 'models/escape-hatch.ts', ownFields],
    ['stop-conditions', 'runs/prepare-turn.ts', planThenWork],
    ['stop-conditions', 'runs/output-guardrail.ts', guarded],
    ['models-of-models', 'models/fallback.ts', fallsBack],
    ['models-of-models', 'models/limiter.ts', takeTurns],
    ['tool-search', 'context/offload.ts', longResult],
    ['sessions', 'sessions/resume-session.ts', afterCrash],
    ['sessions', 'sessions/replay.ts', replay],
    ['sessions', 'sessions/hand-over-session.ts', handOver],
    ['session-tree', 'agents/rust-ledger.ts', inDirectory(throughLedger)],
    ['script-hooks', 'runs/script-hooks.ts', inDirectory(watchedByScripts)],
  ])('%s, %s', async (page, source, program) => expect(await written(program)).toBe(shown(page, source)))
})

describe('the other programs', () => {
  it('a hook asks a person, also about tools that do not', async () => {
    const script = () => scripted([{ toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] }, { text: 'Fine.' }])
    const answersOf = async (isNight: boolean, decision: 'approve' | 'deny') => {
      const run = askedAtNight(script(), [weather], () => isNight).prompt('Weather?')
      run.subscribe((event) => (event.type === 'approvalRequested' ? run[decision](event) : undefined))
      const { messages } = await run.result
      return messages.flatMap((message) => (message.role === 'toolResult' ? [textOf(message.content)] : []))
    }
    expect(await answersOf(false, 'deny')).toEqual(['Oslo: rain for 1 day(s)'])
    expect(await answersOf(true, 'approve')).toEqual(['Oslo: rain for 1 day(s)'])
    expect(await answersOf(true, 'deny')).toEqual(['The user denied this tool call'])
  })

  it('a smaller model writes the summaries', async () => {
    const smaller = scripted([{ text: 'We spoke about bees.' }])
    const model = scripted([...Array.from({ length: 14 }, () => ({ text: 'Bees. '.repeat(100) })), { text: 'Done.' }])
    const agent = withSummaries(model, smaller)
    for (let at = 0; at < 14; at += 1) await agent.prompt('And bees?').result
    expect(await agent.compact().result).toMatchObject({ status: 'completed' })
    await agent.prompt('And now?').result
    expect(JSON.stringify(model.provider.requests.at(-1)?.messages)).toContain('[Summary] We spoke about bees.')
    expect(JSON.stringify(smaller.provider.requests[0]?.messages)).toContain('Keep every file name and every decision.')
  })

  it('the first branch that answers with JSON wins', async () => {
    const models = [scripted([{ text: 'never' }], { gate: () => new Promise(() => undefined) }), scripted([{ text: '{"a":1}' }])]
    const types: string[] = []
    const emit = (event: AgentEvent) => types.push(event.type)
    const race = (configs: { model: Model }[]) =>
      parallelLoop({
        prompt: 'JSON?',
        context: { systemPrompt: '', messages: [], tools: [] },
        configs,
        strategy: firstJson,
        emit,
        signal: new AbortController().signal,
      })
    expect(await race(models.map((model) => ({ model })))).toMatchObject({
      selectedIndex: 1,
      outcomes: [{ result: { status: 'aborted' } }],
    })
    expect(await race([{ model: scripted([{ text: 'no' }]) }])).toMatchObject({ selectedIndex: 0 })
    expect(types.at(-1)).toBe('parallelLoopEnd')
  })
})
