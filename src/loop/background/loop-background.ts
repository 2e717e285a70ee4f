import type { AbortScope } from '../../base/abort.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { BackgroundTasks, ToolContext } from '../../types/tool/tool.ts'

/** A running call, as background tasks need it. */
export interface CallInRun {
  readonly id: string
  readonly name: string
  readonly stop: AbortScope
  /** Whether its result is final; later events are ignored. */
  readonly isOver: boolean
  context(): ToolContext
  /** Returns the result of `work`, or an error result. Never rejects. */
  settle(work: PromiseLike<unknown>): Promise<ToolResult>
  /** Returns a copy of the call with its own signal and timeout, which continues after this one. */
  again(): CallInRun
}

/** Background tasks of a run, as its loop needs them. */
export interface LoopBackground {
  /** Whether a task runs or is about to report. */
  readonly isRunning: boolean
  /** Whether something remains to be done before the run may end. */
  readonly isOpen: boolean
  /** Whether a finished task has not been reported to the model. */
  readonly hasReports: boolean
  takeReports(): AgentMessage[]
  /** Returns the task started by this call id; once. */
  begunBy(toolCallId: string): string | undefined
  /** Returns the tasks as the running `call` sees them. */
  of(call: CallInRun): BackgroundTasks
  /** Waits until a task ends, a message is queued or the run is stopped. Stops the tasks if the run does not wait for any. */
  next(): Promise<void>
  /** Ends the run: stops tasks and stores unreported results. Never rejects. */
  close(): Promise<void>
}
