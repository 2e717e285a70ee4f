import { copyJson } from '../base/json/json-value.ts'
import { ConfigError } from '../contract/errors.ts'
import { ownOf } from '../contract/json.ts'
import { type DataPart, dataMessage, dataName } from '../contract/message/data-part.ts'
import { newId } from '../contract/message/identity.ts'
import type { AgentMessage } from '../contract/message/message.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFlag, json, kind, options } from '../contract/shape/shape.ts'
import type { DataOptions, DataSchemas } from '../types/run/data.ts'
import { formatIssues } from '../validation/format-issues.ts'
import type { EventEmitter } from './event-emitter.ts'
import type { RunLog } from './run-log.ts'

const maxIdChars = 200
const maxValueChars = 262_144
/** Maximum data parts to store per turn. */
const maxParts = 1000

const dataOptions = options<DataOptions>({
  id: kind(`1 to ${maxIdChars} characters`, (value) => typeof value === 'string' && value !== '' && value.length <= maxIdChars),
  transient: aFlag,
})

/** The fields of a loop that data parts use. */
interface DataLoop {
  readonly config: { readonly data?: DataSchemas }
  readonly events: EventEmitter
  readonly log: Pick<RunLog, 'warn'>
}

/** A loop's data parts. Emits each part immediately, and stores it at the end of the turn. */
export class DataParts {
  readonly #loop: DataLoop
  /** Parts to store: the newest per name and id. */
  readonly #waiting = new Map<string, DataPart>()

  constructor(loop: DataLoop) {
    this.#loop = loop
  }

  /** Emits a part. `toolCallId` is the sending tool call, if any. Throws the same errors as `SendData`. */
  send(name: string, value: unknown, given: DataOptions = {}, toolCallId?: string): void {
    checkOptions(name, dataName, 'data(name)')
    checkOptions(given, dataOptions, 'data() options')
    const { id: dataId = newId(), transient = false } = given
    const part = { name, dataId, value: checked(this.#loop.config.data, name, value) }
    const key = `${name} ${dataId}`
    if (!transient && this.#waiting.size >= maxParts && !this.#waiting.has(key))
      throw new ConfigError('invalidOption', `A turn stores at most ${maxParts} data parts. Update one by its id, or pass transient: true.`)
    if (!transient) this.#waiting.set(key, part)
    this.#loop.events.emit({
      ...{ type: 'data', ...part },
      ...(transient && { transient }),
      ...(toolCallId !== undefined && { toolCallId }),
    })
  }

  /** Returns the messages that store the parts since the last call. */
  take(): AgentMessage[] {
    const messages = Array.from(this.#waiting.values(), dataMessage)
    this.#waiting.clear()
    return messages
  }

  /** Logs a warning about parts that were sent after the last turn, because they are not stored. */
  close(): void {
    const names = Array.from(this.#waiting.values(), ({ name }) => name)
    if (names.length === 0) return
    this.#loop.log.warn('dataNotStored', {
      message: `Data parts sent after the last turn were not stored: ${[...new Set(names)].join(', ')}. Only connected clients received them.`,
      hint: 'Send them from a tool or from a hook within a turn, or pass transient: true.',
    })
  }
}

/** Returns a copy of the value as JSON. */
function checked(schemas: DataSchemas | undefined, name: string, value: unknown): DataPart['value'] {
  const schema = schemas === undefined ? undefined : ownOf(schemas, name)
  if (schemas !== undefined && schema === undefined)
    throw new ConfigError('invalidOption', `data has no name ${JSON.stringify(name)}. The agent has ${Object.keys(schemas).join(', ')}.`)
  const result = schema?.['~standard'].validate(value)
  if (result instanceof Promise)
    throw new ConfigError('invalidOption', `The schema of data ${name} is async. Use one that validates at once.`)
  if (result?.issues !== undefined)
    throw new ConfigError('invalidOption', `The value of data ${name} is invalid: ${formatIssues(result.issues, 'value')}`)
  const given: unknown = result === undefined ? value : result.value
  checkOptions(given, json, `data(${JSON.stringify(name)})`)
  const text = JSON.stringify(given)
  if (text.length > maxValueChars)
    throw new ConfigError('invalidOption', `The value of data ${name} has ${text.length} characters; ${maxValueChars} is the limit.`)
  return copyJson(JSON.parse(text))
}
