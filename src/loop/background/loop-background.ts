import type { AbortScope } from '../../base/abort.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { BackgroundTasks, ToolContext } from '../../types/tool/tool.ts'

/** The fields of a running call that background tasks use. */
export interface CallInRun {
  readonly id: string
  readonly name: string
  readonly stop: AbortScope
  /** Whether the call's result is final. The call ignores later events. */
  readonly isOver: boolean
  context(): ToolContext
  /** Returns the result of `work`, or an error result. Never rejects. */
  settle(work: PromiseLike<unknown>): Promise<ToolResult>
  /** Returns a copy of the call with a separate signal and timeout, so that the task outlives this call. */
  again(): CallInRun
}

/** Background-task functions that the loop uses. */
export interface LoopBackground {
  /** Whether a task runs or is about to report. */
  readonly isRunning: boolean
  /** Whether a task or report keeps the run from ending. */
  readonly isOpen: boolean
  /** Whether a finished task has not been reported to the model. */
  readonly hasReports: boolean
  takeReports(): AgentMessage[]
  /** Returns the task that this call started. Later calls return `undefined`. */
  begunBy(toolCallId: string): string | undefined
  /** Returns the background-task interface for the running `call`. */
  of(call: CallInRun): BackgroundTasks
  /** Waits until a task ends, a message is queued or the run is stopped. If the run does not wait for any of the tasks, stops them. */
  next(): Promise<void>
  /** Ends the run: stops tasks and stores unreported results. Never rejects. */
  close(): Promise<void>
}
