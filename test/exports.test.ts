import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { publicEntries } from './harness/public-entries.ts'
import { type Export, exportsOf } from './harness/source.ts'

/** Every public name. A name that is added here is a promise; a name that goes is a breaking change. */
const expected: Record<string, string> = {
  '.': `
    Agent AgentBusyError ConfigError CursorExpiredError EffectiveSettings PhiError ProviderError RunError ToolError defineTool estimatedCost fileContent imageContent
    memorySessionStore parseOutput resumeAgent staticCredential textOf thinkingLevels toolCallsOf userMessage
    AgentEvent AgentMessage AgentOptions AgentRun AgentTool ApiKey DefinedTool InferTools AssistantMessage Citation Content CostConfig CostTier TokenRates UsageBeside CredentialProvider
    DeepPartial ElementOf ExecutionLimits FileCitations FileContent FileOptions ImageContent InputAnswer JsonObject JsonSchema JsonValue Logger MediaOptions Message MessageInput MisuseCode Model ModelConfig
    OpaqueContent ParseOutputOptions PendingApproval PendingClientCall PendingInput PromptInput PromptOptions ProviderErrorCode Receipt ReceiptStatus ResumeOptions
    RequestSettings RetryConfig OutputError OutputIssue RunResult RunStatus ServiceToolContent SessionStore StandardSchema StopReason TextContent ThinkingContent ThinkingLevel ToolCallContent ToolChoice
    ToolContext ToolErrorCode ToolOutput ToolResult ToolResultMessage Usage UserMessage`,
  './providers/anthropic': `
    anthropic anthropicProvider anthropicTools
    AnthropicMcpOptions AnthropicOptions AnthropicProviderOptions AnthropicWebFetchOptions AnthropicWebSearchOptions`,
  './providers/openai': `
    chatTools compatPresets defaultCompat local openAiProvider openai openaiCompatible openrouter openrouterTools
    Backend BackendName ChatModelOptions ChatProviderOptions ChatWebSearchOptions CompatibleOptions OpenRouterWebSearchOptions ProviderOptions`,
  './providers/openai-responses': `
    openAiResponsesProvider openaiResponses openaiTools xaiTools
    OpenAiMcpOptions OpenAiResponsesOptions OpenAiResponsesProviderOptions OpenAiWebSearchOptions ReasoningSummary XaiWebSearchOptions XaiXSearchOptions`,
  './providers/azure': `
    azure azureProvider
    AzureAuth AzureOptions AzureProviderOptions`,
  './providers/google': `
    google googleProvider googleTools
    GoogleOptions GoogleProviderOptions`,
  './providers/vertex': `
    vertex vertexProvider
    VertexOptions VertexProviderOptions`,
  './providers/bedrock': `
    bedrock bedrockProvider bedrockRegion bedrockTools
    AwsCredentialSource AwsCredentials BedrockOptions BedrockProviderOptions`,
  './providers/registry': `
    ProviderRegistry protocolOf
    ProviderLoader RegistryModelOptions`,
  './providers/scripted': `
    ScriptedProvider scripted
    Script ScriptedFailure ScriptedModel ScriptedOptions ScriptedStep ScriptedToolCall`,
  './env': `
    keyFromEnv modelFromEnv
    EnvOptions`,
  './serve': `
    serve
    Listening ServeOptions`,
  './providers/chrome-ai': `
    availability chromeAi
    BrowserAi BrowserModelAvailability ChromeAiOptions LanguageModelInterface LanguageModelSession`,
  './providers/web-llm': `
    webLlm
    ChatEngine WebLlmOptions`,
  './models': `
    catalogue
    CatalogueEntry DatedCatalogue ModelCatalogue`,
  './providers/compose': `
    fallback limited limiter recordFetch replayFetch rotateKeys route withMiddleware
    Cassette CassetteEntry FallbackOptions LimitedOptions Limiter LimiterAsk LimiterOptions LimiterTurn Middleware Priority RecordOptions RotateKeysOptions RouteChoice`,
  './provider-kit': `
    AssistantBuilder HistoryMemory StreamRefusal classifyError createAwsEventDecoder createLineDecoder createModel createSseDecoder
    defaultPatience defineProvider headerCredential joinUrl legalIds mergeHeaders modelConfig normalise perObject retryDelayMs
    secretsIn sendStreaming toJson tokenCount withoutSecret
    ApiProtocol AwsEventDecoder BlockKey CacheStrategy CallIdRule Codec DecoderContext EncodedCall EncodedRequest EventHeaders
    Exchange Failure HistoryWriter KnownApi LineDecoder MediaRules ModelCapabilities ModelDefaults NormaliseTarget OpenAiCompat Patience
    ProviderDefinition ProviderOptions ProviderState Recovery ResponseFormat ResponseFormatInput SseDecoder SseDecoderOptions
    StreamDecoder StreamDelta StreamEvent StreamProvider StreamRequest StreamStart StreamWarning ToolDefinition TransportOptions WrittenHistory`,
  './media': `
    MediaError fetchMedia uploadFile
    FetchMediaOptions MediaErrorCode MediaQuery ResolveMedia UploadFileOptions UploadProgress`,
  './tools': `
    clientTool ClientRun ClientToolOptions ToolRegistry toolSearch ToolSearchOptions OffloadOptions WorkspaceError editFileTool enforceableSchema joinPath linearPattern listFilesTool memoryWorkspace
    prunTools readFileTool resolvePath revertTool searchTool workspaceSearcher writeFileTool
    EditFileOptions LinearPattern ListFilesOptions ReadFileOptions SchemaIssue SchemaOutput SchemaResult
    SchemaValidator SearchMatch SearchOutcome SearchQuery SearchToolOptions Searcher ToolExecutionStrategy ToolOptions ToolParameters
    Workspace WorkspaceEntry WorkspaceErrorCode WorkspaceStat WriteFileOptions`,
  './openapi': `
    OpenApiError fetchOpenApiTools openApiTools readOpenApiTools
    FetchOpenApiOptions OpenApiCredential OpenApiErrorCode OpenApiResolver OpenApiSecret OpenApiToolsOptions OperationApproval OperationFilter
    OperationInfo ReadOpenApiOptions`,
  './skills': `
    SkillError loadSkillDir loadSkills parseSkill
    LoadSkillsOptions ParsedSkill Skill SkillErrorCode SkillProblem SkillProblemCode SkillSet`,
  './shared-state': `
    sharedState
    PatchOperation PatchStep SavedState SessionState SharedState SharedStateDefinition SharedStateOptions SharedStateRules StateAuthor StateChange StateChangeOptions StateRecorder ToldStateChange`,
  './session': `
    JournalError SessionError assertSessionId checkSession childrenOf deleteAllSessions exportAllSessions exportSession exportSessionLines getLoop importSession logSessionStore loopChainTo
    messagesWithBytes memoryDriver openInTime parallelSiblings parseMessages parseSession parseSnapshot pruneSessions recordsOf replayEvents rootLoops salvageSession
    scopedSessionStore serializeMessages sessionJournal sessionOf sharedStatesOf snapshotOf queuedInputs RecordedInput RecordedState totalUsage withEvents withTaskHooks
    AgentSnapshot BegunCall BlobDriver CaughtUp ChildLoopRef CopiedSessionRecord DroppedLine EventKeeping EventStore ImportSessionOptions Journal
    JournalEntry JournalRecord JournaledConversation LogClaim LogDamage LogDriver LogLine LogQuery LoopEvent LoopPlace LoopRecord
    LoopStatus NewSessionRecord NodeTag ParallelGroupRecord PruneOptions ReplayOptions ResumableSnapshot ResumePoint RetentionOptions RetentionReport SalvagedSession Session
    SessionDigest SessionEntry SessionErrorCode SessionFormation SessionJournal SessionJournalOptions SessionListOptions SessionOpenOptions SessionPage
    SessionRecord SessionScope SessionStatus SessionSummary SessionTail SessionTailOptions SessionWriter SpawnRef StorePromises StoredBytes TagKind TaskHooks Turn UnfinishedCalls
    UnknownEntry`,
  './context': `
    ContextTracker PartialJson cacheHitRate combineUsage compactMessages compactsAt contextTokensOf defaultCompaction defaultContextTranslation deriveView diffTurnRequests
    contextLimitOf emptyUsage estimateTokens extensionMessage extractJson hasRates heuristicTokenCounter isContextOverflow isLlmMessage llmCompaction parsePartialJson
    messageTokens summaryMessage tokenCounterFor totalTokens turnsOf unknownCost
    AnnotatedRequest BlockProvenance CapturedHttp CompactedSection CompactionConfig CompactionInput CompactionOverlay CompactionScope
    CompactionStrategy ContextChange ContextConfig ContextState ContextTranslation ExtensionMessage LlmCompactionOptions LlmMessage
    MessageEnvelope ModelLimits ProvenanceRole PruneRecord RequestBreak RequestDiff RevertCategory RevertPolicy RevertRecord TokenCounter TurnId
    TurnSpan`,
  './loop': `
    ClientCallHandler ClientCallOutcome ClientCallRequest ClientCallRequestedEvent ClientCallResolvedEvent
    Approvals agentLoop contextOf continueLoop createBudget defaultLimits defaultRetry elaborate llmJudge parallelLoop pickFirst
    costOver snapshotOfContext tokenEfficient toolCalled transparent turnCount AnswerHookInfo AnswerVerdict EndedBy ReplacedResult RunProgress
    ScriptableHook StopCondition TurnChanges TurnChangesRecord UpcomingTurn
    BackgroundEndEvent BackgroundStartEvent BackgroundTask BackgroundTasks BackgroundView OnRunEnd OutputForm
    AgentContext AgentEndEvent AgentStartEvent ApprovalDecision ApprovalHandler ApprovalRef ApprovalRequest ApprovalRequestedEvent
    ApprovalResolvedEvent ApprovalRule BeforeToolInfo BrokenCallInfo Budget BudgetUse ChildEvent CompactionEndedEvent CompactionFigures
    CompactionStartedEvent ContinuationKind Evaluation EvaluationInput EvaluationStrategy EventBase FilterVerdict HookDone HookOrigin HookScripts
    HookRefusal HookVerdict InputHandler InputFilter InputQuestion InputRef InputRejectedEvent InputRequest InputRequestedEvent
    InputResolvedEvent LlmJudgeOptions LoopConfig LoopConfigSnapshot LoopHooks LoopObserver LoopOptions LoopStep LoopWatch
    MessageEndEvent MessageStartEvent MessageSupplier MessageUpdateEvent ModelAnswer ModelFallbackEvent ModelName RateLimit RateLimits RateLimitsEvent TurnPreparedEvent ParallelLoopEndEvent ParallelLoopStartEvent
    ParallelOptions ParallelOutcome ParallelResult ProgressMessageEvent ProviderRetryEvent PrunAppliedEvent QueueMode ReachedLimit
    ReadableBudget RepairedArguments ReplacedArguments RevertAppliedEvent SharedStateChangedEvent RunFailure RunGuards SharedLimits SubAgentRef ToolExecutionEndEvent
    ToolExecutionStartEvent ToolExecutionUpdateEvent ToolHookInfo TraceContext TurnEndEvent TurnHookInfo TurnRequestEvent
    TurnStartEvent TurnTrigger WatchedLoop`,
  './plugins': `
    definePlugin
    AgentPlugin FailedRequest PluginCall PluginDefinition PluginQuestion PluginRequest PluginRun PluginStages PluginTurn RequestChanges RequestRetry ResponseDelta`,
  './agent': `
    SubAgentTool agentPrompt applyProfile asTool composeSystemPrompt exploreBranches isSubAgentTool minimalPrompt parallel profileDefaults
    AgentProfile AsToolOptions BackgroundOptions Branch BranchSpec CompactOptions ExploreOptions ParallelModels PromptBlock SubAgentOptions SystemPromptStrategy`,
  './react': `
    useAgent useMessage usePart`,
  './vue': `
    useAgent useMessage usePart`,
  './svelte': `
    useAgent useMessage usePart
    AgentStore`,
  './solid': `
    useAgent useMessage usePart`,
  './elements': `
    defineElements
    PhiChat Words`,
  './store': `
    allMessages chatOf childOf createChat createStore escapeControls escapeInvisible goesBack initialState messageOf reduce restoredState rewoundState sourcesOf taken
    BackgroundTaskView BlockView BranchesView Chat ChatActions ChatBranch ChatError ChatMessage ChatPart ChatSource ChatState CompactionNote CreateChatOptions
    QueuedMessage ToolPart ToolTypes ToolTypesByName WithTools MessageView NoteView PruneNote RetryView RevertNote RunState Source Store StoreOptions ToolStatus
    ToolView TurnView`,
  './config': `
    agentFromConfig agentsFromConfig configJsonSchema parseConfig parseConfigAuto substituteEnv trustRequests
    AgentConfig AgentInstanceSection AgentPlace AgentSection CallbacksSection ChoicesSection ClientToolSection CompactionInstanceSection CompactionSection
    CompactionSettings CompatSection ConfigFormat ConfigHost ConfigWarning ContextSection CostSection ExecutionSection
    HooksSection McpServerConfig McpServerSection ModelSection ParsedConfig ProfileInstanceSection ProfileSection PromptSection
    PromptStrategySection ProviderInstanceSection ProviderSection SessionSection SkillsSection SubAgentSection ToolInstanceSection
    ToolPlace ToolsSection TrustRequest`,
  './mcp': `
    McpError isLoopbackHost isPrivateHost mcpInstructions mcpTools
    McpCallOptions McpCallTimeouts McpClientLike McpErrorCode McpProgress McpRequestOptions McpResultSchema McpTool McpToolAnnotations McpToolChange
    McpToolSet McpToolsOptions ModelContextLike ModelContextTool webMcpClient`,
  './client': `
    RemoteError remoteSession runClientTools
    RemoteSharedState AnyTools ClientCallAnswer ClientCallContext ClientToolFunction ClientTools OfferedClientTool
    ChatAgent ChatOptions ClientSettings LoadOptions QueuedReceipt ReconnectOptions RemoteErrorCode RemoteErrorOptions RemoteSession RemoteSessionOptions`,
  './ui/openai': `
    brokenOff chatCompletionEncoder chatCompletionOf chatStreamEnd failureOf openAiSse readCompletionRequest readResponseRequest recordedResponse
    responseEncoder responseIn responseSse NamedResponse RecordedAnswer
    AnswerStepsOptions CallerFault CallerMessage CallerRequest CallerSetting CallerTool ChatAnnotation ChatChunk ChatCompletion ChatDelta ChatEncoder
    ChatEncoderOptions ChatFinishReason ChatPicture ChatToolCall ChatUsage CompletionRequest ErrorChunk InstructionsPlace OpenAiError ReadOptions ReadRequest
    ResponseEcho ResponseEncoder ResponseEncoderOptions ResponseEvent ResponseItem ResponseObject ResponsePart ResponseRequest ResponseUsage RunFailed
    ToolDecision UrlCitation WaitingForPerson`,
  './ui/native': `
    eventDecoder eventEncoder
    EventDecoder EventEncoder ShownEvents`,
  './ui/ai-sdk': `
    approvalIdOf historyIndexOf outputOf parseApprovalId readChatRequest toUiMessages uiMessageEncoder uiMessageReply uiMessageSse
    uiMessageStreamEnd uiMessageStreamHeaders
    ChatRequest CostOf Interjection Read ToolDecision UiChunk UiEncoderOptions UiFilePart UiFinishReason UiMessage UiMessageEncoder
    UiMessageOptions UiMetadata UiPart UiReasoningPart UiReplyOptions UiTextPart UiToolCall UiToolEnd UiToolOutput UiToolPart UiToolState
    WaitingForPerson WithText`,
  './ui/ag-ui': `
    agUiEncoder agUiHeaders agUiSse agUiStanding approvalIdOf parseApprovalId readRunInput toAgUiMessages
    AgUiContentEvent AgUiEncoder AgUiEncoderOptions AgUiEvent AgUiInterrupt AgUiMessage AgUiPart AgUiRunEvent AgUiTokenUsage
    AgUiToolCall ClientState Read RunInput ToolDecision WaitingForPerson`,
  './testing': `
    agentEndpointSuite endpointAgent faultFetch schemaValidatorSuite sessionStoreSuite streamProviderSuite workspaceSuite
    AgentEndpointSuiteOptions AskEndpoint Expectation FaultFetch FaultScript FixtureAnswer ProviderFixture RecordedCall
    SchemaValidatorSuiteOptions SessionStoreSuiteOptions StreamProviderSuiteOptions TestRunner WorkspaceSuiteOptions`,
  './rust': `
    EventRecorder annotatedRequestCodec cacheConfigCodec configSnapshotCodec contentCodec continuationCodec eventFromSpec eventToSpec
    executionLimitsCodec fromSpecJson messageCodec nodeTagCodec protocolCodec provenanceCodec responseFormatCodec revertCategoryCodec
    sessionFromSpec sessionFromSpecJson sessionToSpec sessionToSpecJson specLosses streamDeltaCodec toLedgerStatus toSpecJson
    toolExecutionStrategyCodec toolResultCodec turnTriggerCodec usageCodec
    EventDefaults EventRecorderOptions LedgerStatus SpecCodec SpecLoss SpecRequest WireProtocol`,
  './adapters/node': `
    SandboxUnavailable ScriptHookError bashTool defaultDenyPatterns fileSchedules fileSessionStore nodeTools nodeWorkspace ripgrepSearcher
    scriptHooks toNodeHandler
    BashLimits BashOptions BashTool Confinement FetchHandler HostPrograms Interpreters NodeEnv NodeHandler NodeIncoming
    NodeOutgoing NodeToolsOptions ProtectionOptions RipgrepOptions ScriptHookErrorCode ScriptHookOptions`,
  './adapters/node/config': `
    loadConfigFile
    LoadConfigOptions LoadedConfig`,
  './adapters/node/mcp': `
    serveMcpStdio connectMcpStdio
    McpStdioOptions`,
  './adapters/node/rust': `
    deleteSession listSessionIds loadSession loadSessionsForAgent saveSession`,
  './adapters/http': `
    createOpenAiApp MakeAgent OpenAiAppOptions ServedAgent
    LiveSession GatewayResults GatewayCommand GatewayCommands SessionGateway SessionReads sessionGateway bearer callerToken createAgentApp createModelProxy memoryCounter memoryLiveSessions onLoopback problemResponse
    SessionSchedules bookSchedules memorySchedules readWebhook runResponse tooManyRuns webhook ScheduleBook ScheduleEntry ScheduleStore ScheduledPrompt EndNotice NoticeHandlers ReadWebhook ReadWebhookOptions SessionNotice WaitingNotice Webhook WebhookNotice WebhookOptions
    AgentAppOptions AllowRule AnsweredRequest AppFigures AppObserver Authorize BudgetCounter BudgetRule BudgetWindow CallEnding CallReport Caller Charge DevAppOptions Identity KeyPlace
    LiveAgentOptions LiveSessionHost LiveSessions MemoryLiveSessions MemoryLiveSessionsOptions ModelCall ModelProxyOptions OperatorPage
    OperatorSession Problem ProblemCode
    ProxyBudget RouteOptions RunResponseOptions SessionAddress SessionFigures SessionRoutes Upstream UpstreamKey`,
  './adapters/browser': `
    indexedDbSessionStore opfsWorkspace
    IndexedDbSessionOptions IndexedDbSessionStore OpfsWorkspaceOptions`,
  './adapters/cloudflare': `
    IndexObject LiveSessionObject SessionObject bearer createWorker durableObjectSessionStore forwardToSession kvSessionStore
    objectLiveSessions onLoopback
    ForwardOptions KvKeyPage KvNamespace KvSessionStoreOptions LiveAgentOptions ObjectLiveSessionsOptions ObjectNamespace ObjectState
    ObjectAddress ObjectStorage ObjectStub SessionBindings SqlCursor SqlValue WorkerOptions`,
  './adapters/mcp': `
    connectMcp connectMcpOver
    McpConnectOptions McpConnection McpHttpOptions McpRoot McpRoute`,
  './adapters/mcp/server': `
    connectMcpServer serveMcp
    McpAgent McpApp McpCaller McpServerConnection McpServerOptions McpSkills ServeMcpOptions`,
  './adapters/otel': `
    meterApp traceAgent traceLoops
    AgentTrace LoopTracer MeterAppOptions TraceOptions`,
  './adapters/postgres': `
    migrate postgresSessionStore
    MigrateOptions PostgresSessionStoreOptions SqlPool`,
  './adapters/postgres/live': `
    listenWith postgresLiveSessions postgresSchedules
    ListeningClient ListeningPool PeerOptions PostgresLiveSessions PostgresLiveSessionsOptions SqlListen`,
  './adapters/ajv': `
    ajvValidator`,
}

const read = (path: string): string => readFileSync(path, 'utf8')

/** Follows a name to the file that declares it. */
function declarationOf(path: string, exported: Export): { path: string; name: string } {
  if (!exported.from) return { path, name: exported.name }
  const { from } = exported
  const next = exportsOf(from.path, read(from.path)).find((each) => each.name === from.name)
  if (!next) throw new Error(`${path} exports ${from.name} from ${from.path}, which has no such export.`)
  return declarationOf(from.path, next)
}

/** The words of the TSDoc comment that stands before the declaration of `name`. */
function documentationOf(code: string, name: string): string[] {
  const declaration = new RegExp(`^(?:export )?(?:abstract |async )?(?:function\\*?|const|let|class|interface|type) ${name}\\b`, 'm').exec(
    code,
  )
  // What the linter is told stands between the two.
  const before = code
    .slice(0, declaration?.index ?? 0)
    .replace(/\n\/\/ biome-ignore .*\n$/, '')
    .trimEnd()
  if (!before.endsWith('*/')) return []
  const comment = before.slice(before.lastIndexOf('/**'))
  return comment.match(/[A-Za-z`]{2,}/g) ?? []
}

/** Names that an entry passes on from another, which is their home. */
const passedOn: Record<string, string> = {
  bearer: './adapters/cloudflare: every worker needs one of the two, and imports nothing else of ./adapters/http',
  onLoopback: './adapters/cloudflare: as bearer',
  LiveAgentOptions: './adapters/cloudflare: what a class that extends LiveSessionObject returns',
  approvalIdOf: './ui/ag-ui, ./ui/ai-sdk: one protocol is taken without the other',
  parseApprovalId: './ui/ag-ui, ./ui/ai-sdk: as approvalIdOf',
  ToolDecision: './ui/ag-ui, ./ui/ai-sdk, ./ui/openai: what all readers give',
  Read: './ui/ag-ui, ./ui/ai-sdk: what both readers return',
  ProviderOptions: './providers/openai: what openai, local and openrouter take',
  WaitingForPerson: './ui/ag-ui, ./ui/ai-sdk, ./ui/openai: what all encoders are told',
}

/** Of these entries a page takes one: each says the same in the words of its framework. */
const bindings = ['./react', './vue', './svelte', './solid']

it('each name stands in one entry', () => {
  const homes = new Map<string, { entries: string[]; declared: Set<string> }>()
  for (const { subpath, source } of publicEntries()) {
    if (bindings.indexOf(subpath) > 0) continue
    for (const each of exportsOf(source, read(source))) {
      const { entries, declared } = homes.get(each.name) ?? { entries: [], declared: new Set() }
      const home = declarationOf(source, each)
      homes.set(each.name, { entries: [...entries, subpath], declared: declared.add(`${home.path} ${home.name}`) })
    }
  }
  const twice = Array.from(homes).filter(([, { entries }]) => entries.length > 1)
  expect(twice.filter(([, { declared }]) => declared.size > 1).map(([name]) => `${name} means two things`)).toEqual([])
  expect(twice.map(([name]) => name).toSorted()).toEqual(Object.keys(passedOn).toSorted())
})

describe.each(publicEntries())('$subpath', ({ subpath, source }) => {
  const exported = exportsOf(source, read(source))
  const names = (which: Export[]): string[] => which.map((each) => each.name).toSorted()

  it('exports what it promises, no more and no less', () => {
    expect(names(exported)).toEqual((expected[subpath] ?? '').split(/\s+/).filter(Boolean).toSorted())
  })

  it('has at run time what its source says', async () => {
    const module: object = await import(`../${source}`)
    expect(Object.keys(module).toSorted()).toEqual(names(exported.filter((each) => !each.isType)))
  })

  it('documents every name', () => {
    const silent = exported.filter((each) => {
      const declared = declarationOf(source, each)
      return documentationOf(read(declared.path), declared.name).length < 4
    })
    expect(silent.map((each) => each.name)).toEqual([])
  })
})

it('a name without a comment is found', () => {
  expect(documentationOf('/** One word, then some more words. */\nexport const a = 1\nexport const b = 2', 'a').length).toBeGreaterThan(4)
  expect(documentationOf('/** One word, then some more words. */\nexport const a = 1\nexport const b = 2', 'b')).toEqual([])
})
