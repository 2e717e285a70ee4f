import {
  type AgentContext,
  type ClientCapabilities,
  type ContentBlock,
  type EmbeddedResource,
  methods,
  type PermissionOption,
  RequestError,
  type RequestPermissionRequest,
  type SessionModeState,
  type SessionUpdate,
  type StopReason,
} from '@agentclientprotocol/sdk'
import type { Content, TextContent } from '../../../../src/contract/message/content.ts'
import {
  type AgentEvent,
  type AgentRun,
  ConfigError,
  type ImageContent,
  imageContent,
  type PromptInput,
  type RunResult,
} from '../../../../src/index.ts'
import type { ApprovalRequestedEvent } from '../../../../src/loop.ts'
import type { McpMentions } from '../../../../src/mcp/mentions/mentions.ts'
import type { LoopRecord } from '../../../../src/session.ts'
import { answerWithoutPage } from '../../../mcp/internal.ts'
import type { Assistant } from '../assistant/assistant.ts'
import type { ProposedChange } from '../changes/proposed-change.ts'
import { isMode, permissionModes } from '../permissions/permissions.ts'
import { ruleFor, wordsOf } from '../permissions/rule.ts'
import { isWaiting, triage } from '../permissions/triage.ts'
import { Meter } from '../repl/meter.ts'
import { diffOf, pastUpdates, toolCallOf, updatesOf } from './acp-updates.ts'
import { type Asked, askEditor, untilOver } from './editor-questions.ts'

/**
 * Converts an editor prompt: text, images, linked and embedded files, and MCP prompts and resources that its text mentions. Rejects
 * with `ConfigError` for content that the model cannot receive.
 */
async function promptFrom(blocks: readonly ContentBlock[], servers: readonly McpMentions[]): Promise<PromptInput> {
  const [first, ...others] = blocks
  const command = first?.type === 'text' ? first.text : ''
  const commanded = servers.find((each) => each.isCommand(command))
  const given: Content[] = await Promise.all((commanded === undefined ? blocks : others).map(blockFrom))
  if (commanded !== undefined) {
    const messages = await commanded.messages(command)
    return given.length === 0 ? messages : [{ role: 'user', content: given }, ...messages]
  }
  const typed = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
  const content = [...(await Promise.all(servers.map((each) => each.resourcesIn(typed)))).flat(), ...given]
  const [only] = content
  if (content.length === 1 && only?.type === 'text') return only.text
  return { role: 'user', content, timestamp: Date.now() }
}

async function blockFrom(block: ContentBlock): Promise<TextContent | ImageContent> {
  if (block.type === 'text') return { type: 'text', text: block.text }
  if (block.type === 'image') return imageContent(Buffer.from(block.data, 'base64'), { mimeType: block.mimeType })
  if (block.type === 'resource_link') return { type: 'text', text: `[${block.name}](${block.uri})` }
  if (block.type === 'resource') return { type: 'text', text: embedded(block) }
  throw new ConfigError('invalidOption', 'This agent does not accept audio.')
}

/** Converts an embedded file, marked with its source. */
function embedded({ resource }: EmbeddedResource): string {
  if (!('text' in resource)) throw new ConfigError('invalidOption', `${resource.uri} is not text. Reference the file instead.`)
  return `<file uri=${JSON.stringify(resource.uri)}>\n${resource.text}\n</file>`
}

const modeNames = { ask: 'Ask', edits: 'Edit files', all: 'Allow all' } as const
const modeWords = {
  ask: 'Asks before each file change and command',
  edits: 'Changes files without asking, asks before commands',
  all: 'Never asks',
} as const

/** The editor connection of a conversation. */
export interface AcpSessionParts {
  client: AgentContext
  capabilities: ClientCapabilities
  /** The session's records so far. */
  loops: readonly LoopRecord[]
  /** Prompts and resources from its MCP servers. */
  servers: readonly McpMentions[]
  /** Called when the conversation is closed. */
  closers: readonly (() => Promise<void>)[]
}

/** A conversation that an editor has open. */
export class AcpSession {
  readonly #assistant: Assistant
  readonly #client: AgentContext
  readonly #closers: readonly (() => Promise<void>)[]
  readonly #servers: readonly McpMentions[]
  /** The commands that the editor knows, as JSON. */
  #offered = '[]'
  readonly #meter = new Meter()
  /** Shown file changes of the current run, by call. */
  readonly #changes = new Map<string, ProposedChange>()
  /** Pending updates to the editor, in order. */
  #sent: Promise<void> = Promise.resolve()
  readonly #capabilities: ClientCapabilities
  #run: AgentRun | undefined

  constructor(assistant: Assistant, { client, capabilities, servers, closers, loops }: AcpSessionParts) {
    this.#assistant = assistant
    this.#client = client
    this.#capabilities = capabilities
    this.#closers = closers
    this.#servers = servers
    this.#meter.begin(assistant.agent, loops)
  }

  get id(): string {
    return this.#assistant.agent.sessionId
  }

  get modes(): SessionModeState {
    const availableModes = permissionModes.map((id) => ({ id, name: modeNames[id], description: modeWords[id] }))
    return { currentModeId: this.#assistant.permissions.mode, availableModes }
  }

  /** Sends the history to the editor for display. */
  async replay(): Promise<void> {
    for (const update of pastUpdates(this.#assistant.agent.messages, this.#assistant.root)) this.#notify(update)
    await this.#sent
  }

  /** Sends MCP server prompts to the editor as commands, now and after changes. */
  async offerCommands(): Promise<void> {
    for (const each of this.#servers) each.subscribe(() => this.#offer())
    await Promise.all(this.#servers.map((each) => each.load()))
    this.#offer()
  }

  #offer(): void {
    const availableCommands = this.#servers
      .flatMap((each) => each.commands)
      .map(({ command, usage, description = '' }) => ({
        name: command.slice(1),
        description,
        ...(usage !== '' && { input: { hint: usage } }),
      }))
    const offered = JSON.stringify(availableCommands)
    if (offered === this.#offered) return
    this.#offered = offered
    this.#notify({ sessionUpdate: 'available_commands_update', availableCommands })
  }

  async setMode(mode: string): Promise<void> {
    if (!isMode(mode)) throw RequestError.invalidParams({ mode }, `Known modes: ${permissionModes.join(', ')}.`)
    this.#assistant.permissions.mode = mode
    this.#notify({ sessionUpdate: 'current_mode_update', currentModeId: mode })
    await this.#sent
  }

  /** Sends a prompt. Resolves when the run has ended and the editor has received all updates. */
  async prompt(blocks: readonly ContentBlock[]): Promise<StopReason> {
    const { agent } = this.#assistant
    if (this.#run !== undefined) throw RequestError.invalidRequest(undefined, 'The agent is working. Cancel, or wait until it finishes.')
    const input = await promptFrom(blocks, this.#servers)
    const run = agent.send(input)
    this.#run = run
    this.#changes.clear()
    run.subscribe((event) => this.#event(run, event))
    try {
      const result = await run.result
      const { contextWindow, cost } = agent.settings.model.config
      const amount = this.#meter.costUsd(cost)
      this.#notify({
        sessionUpdate: 'usage_update',
        used: this.#meter.context,
        size: contextWindow,
        ...(amount !== undefined && { cost: { amount, currency: 'USD' } }),
      })
      await this.#sent
      return stopReasonOf(result)
    } finally {
      this.#run = undefined
    }
  }

  cancel(): void {
    this.#run?.abort()
  }

  async close(): Promise<void> {
    this.cancel()
    await Promise.allSettled([this.#assistant.close(), ...this.#closers.map((close) => close())])
  }

  #event(run: AgentRun, event: AgentEvent): void {
    this.#meter.event(event)
    for (const update of updatesOf(event, this.#assistant.root, this.#changes)) this.#notify(update)
    if (event.type === 'approvalRequested') void this.#ask(run, event)
    else if (event.type === 'inputRequested') void this.#sent.then(() => askEditor(run, event, this.#asked))
    else if (event.type === 'clientCallRequested') answerWithoutPage(run, event)
  }

  get #asked(): Asked {
    return { client: this.#client, capabilities: this.#capabilities, sessionId: this.id }
  }

  /** Sends nothing to a disconnected editor. */
  #notify(update: SessionUpdate): void {
    const sessionId = this.id
    this.#sent = this.#sent.then(() => this.#client.notify(methods.client.session.update, { sessionId, update })).catch(() => undefined)
  }

  /** Requests permission for a call from the editor. An error or no response denies the call. */
  async #ask(run: AgentRun, event: ApprovalRequestedEvent): Promise<void> {
    const { permissions, files, root } = this.#assistant
    const found = await triage(run, event, { permissions, files })
    if (found === undefined) return
    if (found.kind === 'refuse') return run.deny(event, found.reason)
    const { change } = found
    if (change !== undefined) this.#changes.set(event.toolCallId, change)
    if (found.kind === 'run') return run.approve(event)
    const { signal, stop } = untilOver(run, (other) => other.type === 'approvalResolved' && other.toolCallId === event.toolCallId)
    try {
      await this.#sent
      const content = change === undefined ? {} : { content: [diffOf(change, root)] }
      const toolCall = { ...toolCallOf(event.toolCallId, event.toolName, event.args, root), status: 'pending' as const, ...content }
      const asked: RequestPermissionRequest = { sessionId: this.id, toolCall, options: optionsFor(event, permissions.canKeep) }
      const { outcome } = await this.#client.request(methods.client.session.requestPermission, asked, { cancellationSignal: signal })
      this.#answered(run, event, outcome.outcome === 'selected' ? outcome.optionId : 'no')
    } catch {
      this.#answered(run, event, 'no')
    } finally {
      stop()
    }
  }

  #answered(run: AgentRun, event: ApprovalRequestedEvent, option: string): void {
    if (!isWaiting(run, event)) return
    const rule = ruleFor(event)
    if (rule !== undefined && (option === 'session' || option === 'folder')) this.#assistant.permissions.add(rule, option)
    if (['once', 'session', 'folder'].includes(option)) run.approve(event)
    else run.deny(event, 'The user denied this call.')
  }
}

function optionsFor(event: ApprovalRequestedEvent, canKeep: boolean): PermissionOption[] {
  const rule = ruleFor(event)
  const always = (optionId: string, where: string): PermissionOption[] =>
    rule === undefined ? [] : [{ optionId, name: `Always in this ${where}: ${wordsOf(rule)}`.slice(0, 200), kind: 'allow_always' }]
  return [
    { optionId: 'once', name: 'Allow', kind: 'allow_once' },
    ...always('session', 'session'),
    ...(canKeep ? always('folder', 'folder') : []),
    { optionId: 'no', name: 'Reject', kind: 'reject_once' },
  ]
}

/** A failed run fails the request, so that the editor shows the reason. */
function stopReasonOf({ status, error, stopReason, rejection }: RunResult): StopReason {
  if (status === 'aborted') return 'cancelled'
  if (status === 'limit') return 'max_turn_requests'
  if (status === 'rejected' || stopReason === 'guardRail') return 'refusal'
  if (status === 'error') throw RequestError.internalError(undefined, error?.message ?? rejection ?? 'The run failed.')
  return stopReason === 'length' ? 'max_tokens' : 'end_turn'
}
