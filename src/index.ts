// Any new export here becomes public API: named exports only, each with its contract in TSDoc.
export { Agent } from './agent/agent.ts'
export type { AgentOptions, CompactOptions, PromptOptions } from './agent/agent-options.ts'
export { type Branch, type BranchSpec, type ExploreOptions, exploreBranches } from './agent/explore-branches.ts'
export { type ParseOutputOptions, parseOutput } from './agent/parse-output.ts'
export { type AgentProfile, applyProfile, profileDefaults } from './agent/profile.ts'
export { type ResumeOptions, resumeAgent } from './agent/resume-agent.ts'
export {
  agentPrompt,
  composeSystemPrompt,
  minimalPrompt,
  type PromptBlock,
  type SystemPromptStrategy,
} from './agent/system-prompt.ts'
export { escapeControls } from './base/escape-controls.ts'
export { createBudget } from './context/execution-budget.ts'
export { extractJson } from './context/extract-json.ts'
export { type ContextTranslation, defaultContextTranslation } from './context/translation.ts'
export { agentLoop, continueLoop } from './loop/agent-loop.ts'
export { Approvals } from './loop/calls/approvals.ts'
export { Inputs } from './loop/calls/inputs.ts'
export type { AgentContext, LoopConfig, LoopOptions, MessageSupplier } from './loop/loop-config.ts'
export { parseMessages, serializeMessages } from './session/checks/message-json.ts'
export { parseSnapshot } from './session/checks/snapshot.ts'
export { memorySessionStore } from './session/log/memory-store.ts'
export { defineTool } from './tools/define-tool.ts'
export type { ApprovalDecision, ApprovalDesk, ApprovalRef, ApprovalRequest, ApprovalRule, RunGuards } from './types/approval.ts'
export type { Budget, BudgetUse, ReadableBudget } from './types/budget.ts'
export type { ChatAgent, ChatOptions } from './types/chat-agent.ts'
export type {
  CompactedSection,
  CompactionConfig,
  CompactionInput,
  CompactionOverlay,
  CompactionScope,
  CompactionStrategy,
  ContextConfig,
  TokenCounter,
  TurnSpan,
} from './types/compaction.ts'
export type { Content, ImageContent, ProviderState, TextContent, ThinkingContent, ToolCallContent } from './types/content.ts'
export type { ContextChange, ContextState, PruneRecord, RevertCategory, RevertPolicy, RevertRecord } from './types/context-change.ts'
export { type ApiKey, type CredentialProvider, staticCredential } from './types/credentials.ts'
export {
  AgentBusyError,
  ConfigError,
  type ConfigErrorOptions,
  CursorExpired,
  JournalError,
  type MisuseCode,
  PhiError,
  ProviderError,
  type ProviderErrorCode,
  SessionError,
  type SessionErrorCode,
  ToolError,
  type ToolErrorCode,
  WorkspaceError,
  type WorkspaceErrorCode,
} from './types/errors.ts'
export type {
  AgentEndEvent,
  AgentEvent,
  AgentStartEvent,
  ApprovalRequestedEvent,
  ApprovalResolvedEvent,
  ChildEvent,
  CompactionEndedEvent,
  CompactionStartedEvent,
  EventBase,
  InputRejectedEvent,
  InputRequestedEvent,
  InputResolvedEvent,
  MessageEndEvent,
  MessageStartEvent,
  MessageUpdateEvent,
  ParallelLoopEndEvent,
  ParallelLoopStartEvent,
  ProgressMessageEvent,
  ProviderRetryEvent,
  PrunAppliedEvent,
  RevertAppliedEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
  TurnEndEvent,
  TurnRequestEvent,
  TurnStartEvent,
} from './types/event.ts'
export type {
  BeforeToolInfo,
  CompactionFigures,
  HookDone,
  HookOrigin,
  HookRefusal,
  HookVerdict,
  LoopHooks,
  ReplacedArguments,
  ToolHookInfo,
  TurnHookInfo,
} from './types/hooks.ts'
export type { FilterVerdict, InputFilter } from './types/input-filter.ts'
export type { InputAnswer, InputDesk, InputRef, InputRequest } from './types/input-request.ts'
export type { Journal, JournalEntry, JournaledConversation, JournalRecord } from './types/journal.ts'
export type { JsonObject, JsonSchema, JsonValue } from './types/json.ts'
export type { Logger } from './types/logger.ts'
export type { LoopObserver, LoopStep, LoopWatch, ModelAnswer, WatchedLoop } from './types/loop-watch.ts'
export {
  type AgentMessage,
  type AssistantMessage,
  type ExtensionMessage,
  extensionMessage,
  isLlmMessage,
  type LlmMessage,
  type Message,
  type MessageEnvelope,
  type MessageInput,
  type PromptInput,
  type StopReason,
  type ToolResultMessage,
  type TurnId,
  textOf,
  toolCallsOf,
  type UserMessage,
  userMessage,
} from './types/message.ts'
export type { Model } from './types/model.ts'
export type { ApiProtocol, KnownApi, ModelCapabilities, ModelConfig, OpenAiCompat, ThinkingLevel } from './types/model-config.ts'
export type { NodeTag, TagKind } from './types/node-tag.ts'
export type { BlockProvenance, ProvenanceRole } from './types/provenance.ts'
export type {
  CacheStrategy,
  EncodedRequest,
  ResponseFormat,
  ResponseFormatInput,
  StreamDelta,
  StreamEvent,
  StreamProvider,
  StreamRequest,
  StreamStart,
  ToolDefinition,
} from './types/provider.ts'
export type { AnnotatedRequest, CapturedHttp } from './types/request-capture.ts'
export { type AgentRun, type Receipt, type ReceiptStatus, RunError, type RunResult } from './types/run.ts'
export type {
  ContinuationKind,
  InputQuestion,
  LoopConfigSnapshot,
  PendingApproval,
  PendingInput,
  RunFailure,
  RunStatus,
  SubAgentRef,
  TurnTrigger,
} from './types/run-facts.ts'
export type {
  BegunCall,
  ChildLoopRef,
  LoopEvent,
  LoopRecord,
  LoopStatus,
  ParallelGroupRecord,
  Session,
  SessionFormation,
  SessionScope,
  SpawnRef,
  Turn,
} from './types/session.ts'
export type { LogDamage, SessionEntry, SessionRecord, UnknownEntry } from './types/session-record.ts'
export type {
  CopiedSessionRecord,
  DroppedLine,
  LogClaim,
  LogDriver,
  LogLine,
  LogQuery,
  NewSessionRecord,
  ResumePoint,
  SalvagedSession,
  SessionDigest,
  SessionJournal,
  SessionJournalOptions,
  SessionListOptions,
  SessionPage,
  SessionStore,
  SessionSummary,
  SessionTail,
  SessionWriter,
  StorePromises,
} from './types/session-store.ts'
export { defaultLimits, defaultRetry, type ExecutionLimits, type QueueMode, type ReachedLimit, type RetryConfig } from './types/settings.ts'
export type { Skill, SkillProblem, SkillProblemCode, SkillSet } from './types/skills.ts'
export type { AgentSnapshot } from './types/snapshot.ts'
export type { SchemaIssue, SchemaOutput, SchemaResult, SchemaValidator, StandardSchema } from './types/standard-schema.ts'
export type { AgentTool, ToolContext, ToolExecutionStrategy, ToolOutput, ToolParameters } from './types/tool.ts'
export type { ToolResult } from './types/tool-result.ts'
export { type CostConfig, cacheHitRate, combineUsage, emptyUsage, estimatedCost, type Usage } from './types/usage.ts'
export type { Workspace, WorkspaceEntry, WorkspaceStat } from './types/workspace.ts'
export { memoryWorkspace } from './workspace/memory-workspace.ts'
