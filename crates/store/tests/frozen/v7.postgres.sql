-- A store of the seventh version in PostgreSQL: a run that is over, and one whose process was killed within a payment.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.agent_approvals (
    number bigint NOT NULL,
    id text NOT NULL,
    run_id text NOT NULL,
    request text NOT NULL,
    place text NOT NULL,
    correlation_id text NOT NULL,
    tenant_id text NOT NULL,
    user_id text,
    started_by text,
    agent_name text NOT NULL,
    tool_name text NOT NULL,
    version text NOT NULL,
    args_summary text NOT NULL,
    effect_description text NOT NULL,
    risk_level text NOT NULL,
    args_digest text NOT NULL,
    requested_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    status text NOT NULL,
    detail bytea NOT NULL,
    decided_by text,
    decided_at bigint,
    note text,
    edited bytea,
    edited_digest text,
    use_by bigint,
    proof bytea,
    reasons text
);
ALTER TABLE public.agent_approvals ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.agent_approvals_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.agent_audit_events (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    tenant_id text NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL,
    actor text,
    subject text,
    tool_name text,
    detail bytea,
    row_digest bytea,
    digest bytea NOT NULL,
    run bigint NOT NULL
);
ALTER TABLE public.agent_audit_events ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.agent_audit_events_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.agent_audit_key (
    one boolean DEFAULT true NOT NULL,
    id text NOT NULL,
    CONSTRAINT agent_audit_key_one_check CHECK (one)
);
CREATE TABLE public.agent_conversations (
    tenant_id text NOT NULL,
    id text NOT NULL,
    agent_name text NOT NULL,
    run_id text,
    contents bytea,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE TABLE public.agent_deliveries (
    webhook text NOT NULL,
    event bigint NOT NULL,
    attempts bigint DEFAULT 0 NOT NULL,
    next_at bigint,
    error text
);
CREATE TABLE public.agent_modes (
    tenant_id text NOT NULL,
    mode text NOT NULL,
    set_by text NOT NULL,
    set_at bigint NOT NULL,
    seq bigint NOT NULL,
    proof bytea NOT NULL
);
CREATE TABLE public.agent_platform (
    one boolean DEFAULT true NOT NULL,
    audit_seq bigint DEFAULT 0 NOT NULL,
    audit_digest bytea DEFAULT '\x'::bytea NOT NULL,
    CONSTRAINT agent_platform_one_check CHECK (one)
);
CREATE TABLE public.agent_run_commits (
    last_seq bigint NOT NULL,
    after_seq bigint NOT NULL,
    entries bytea NOT NULL,
    committed_at bigint NOT NULL,
    run bigint NOT NULL
);
CREATE TABLE public.agent_run_texts (
    run_id text NOT NULL,
    number bigint NOT NULL,
    contents bytea NOT NULL,
    expires_at bigint NOT NULL
);
CREATE TABLE public.agent_runs (
    number bigint NOT NULL,
    id text NOT NULL,
    tenant_id text NOT NULL,
    key text,
    agent_name text NOT NULL,
    started_by text,
    priority integer NOT NULL,
    data bytea NOT NULL,
    data_key bytea NOT NULL,
    status text NOT NULL,
    wake_at bigint,
    lease_owner text,
    lease_until bigint,
    fence bigint DEFAULT 0 NOT NULL,
    claims bigint DEFAULT 0 NOT NULL,
    messages bigint DEFAULT 0 NOT NULL,
    ended text,
    held text,
    cancelled_by text,
    last_seq bigint DEFAULT 0 NOT NULL,
    last_commit text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    audit_seq bigint DEFAULT 0 NOT NULL,
    audit_digest bytea DEFAULT '\x'::bytea NOT NULL,
    labels jsonb DEFAULT '{}'::jsonb NOT NULL,
    paused_by text,
    conversation text,
    advanced_at bigint
)
WITH (fillfactor='80');
ALTER TABLE public.agent_runs ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.agent_runs_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.agent_schema_history (
    version integer NOT NULL,
    name character varying(255),
    applied_on character varying(255),
    checksum character varying(255)
);
CREATE TABLE public.agent_tool_executions (
    id text NOT NULL,
    tenant_id text NOT NULL,
    run_id text NOT NULL,
    call_id text NOT NULL,
    attempt bigint NOT NULL,
    agent_name text NOT NULL,
    tool_name text NOT NULL,
    version text NOT NULL,
    input bytea NOT NULL,
    output bytea,
    approved boolean DEFAULT false NOT NULL,
    approved_by text,
    risk_level text NOT NULL,
    executed_at bigint NOT NULL,
    duration_ms bigint,
    error text,
    effect_unknown boolean DEFAULT false NOT NULL,
    rolled_back boolean DEFAULT false NOT NULL,
    rolled_back_at bigint,
    had_effect boolean,
    settled_by text,
    settled_at bigint,
    settled_proof bytea,
    run bigint
);
CREATE TABLE public.agent_webhooks (
    name text NOT NULL,
    seen bigint NOT NULL
);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (1, 1, '', 1795638909932, 'started', NULL, NULL, NULL, NULL, '\x7ad20cb33f204f4e1be6eb0892b08c61', '\x9356a5deb102d1bcd95c4cb4f2aa1da3', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (2, 2, '', 1795638910113, 'began', NULL, '0e137536-a12c-461d-8c70-dbb01a4a10d6', 'pay', NULL, '\xbf7673bcbef784cff85319e7f042bbfb', '\xc8b976e75163d84b0a1494dec4c4ebac', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (3, 3, '', 1795638910155, 'ended', NULL, '0e137536-a12c-461d-8c70-dbb01a4a10d6', 'pay', NULL, '\x1c6228c45e30016f187486fbba7b7503', '\x0db91088f38c8cfe8e9dfbc5deb0a394', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (4, 4, '', 1795638910178, 'began', NULL, 'ecbca935-929f-4a51-8a4f-5891c8850320', 'pay', NULL, '\x963b4c8cb4c0cae351565c29739fb6e3', '\x2db0099a03c371286745c41bc61a06ba', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (5, 5, '', 1795638910211, 'ended', NULL, 'ecbca935-929f-4a51-8a4f-5891c8850320', 'pay', NULL, '\x9df8bbc2c362430695bb4f9442ccdf14', '\xea349e641a5ee907f09fa0289574fe41', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (6, 6, '', 1795638910227, 'began', NULL, '3672f06c-4bc6-4643-82a3-4142226af415', 'pay', NULL, '\x07ed8667c16c65816264e2d32b9df6c1', '\xba42b64d5b2b150b6668835bb16b1238', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (7, 7, '', 1795638910237, 'ended', NULL, '3672f06c-4bc6-4643-82a3-4142226af415', 'pay', NULL, '\xc25a6f6bbefe6bb3a7a36c6c696efe78', '\x3b178712e50f31b9ecfdccfb79581df0', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (8, 8, '', 1795638910253, 'began', NULL, 'd5267735-22b7-4ffe-8275-6a50068602fd', 'pay', NULL, '\xb8f0d23659aba06d07808c7b80a4339e', '\x10a6779db6caf0d0b594d8e9f5475408', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (9, 9, '', 1795638910284, 'ended', NULL, 'd5267735-22b7-4ffe-8275-6a50068602fd', 'pay', NULL, '\x40148dbbddefe661221916689096c5ea', '\x456f8c295ed8c4ac14b99898f1e04b73', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (10, 10, '', 1795638910296, 'began', NULL, '33a8acb4-6f9b-48e8-9d3c-4a54dda7d5dc', 'pay', NULL, '\xa8b268bb643aac4449b050f15cdfbb87', '\x193b7a69abf1f62a2bbe20eec9b4c7a4', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (11, 11, '', 1795638910309, 'ended', NULL, '33a8acb4-6f9b-48e8-9d3c-4a54dda7d5dc', 'pay', NULL, '\x27a26334839616d2abafda017736e76d', '\xa523b1e2f44976b09a5fba7c8a57b8e0', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (12, 12, '', 1795638910319, 'began', NULL, 'ccd6cb76-8299-4e6a-905b-72a606c407f2', 'pay', NULL, '\x238d3906c567df1363baf52478964f24', '\xc913ea81edac4b5bc888925799c9ce64', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (13, 13, '', 1795638910346, 'ended', NULL, 'ccd6cb76-8299-4e6a-905b-72a606c407f2', 'pay', NULL, '\x0b3dd67b35ce256cfa4c94e3082a13c2', '\x77642b9f1b6d34b9e23b619306a5cb54', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (14, 14, '', 1795638910364, 'began', NULL, '8234927d-e756-442c-9875-51432ba02744', 'pay', NULL, '\xb99352aed0dd02d43d355589a516f0fe', '\xdd655ca1e648dfcbacc15641b413ddaf', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (15, 15, '', 1795638910385, 'ended', NULL, '8234927d-e756-442c-9875-51432ba02744', 'pay', NULL, '\x7fdd7bc8a28fcd29ae822218ada4dd2a', '\x05db852f2e7ce99920f0a96eab036c2b', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (16, 16, '', 1795638910405, 'began', NULL, 'ff02504b-7d2a-4739-a45b-e93ef6a6c476', 'pay', NULL, '\xdf4dee1c816561fa50c8b6ffd85ec5c4', '\x2c83f308cc4e7c766e7f9e3473821baf', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (17, 17, '', 1795638910425, 'ended', NULL, 'ff02504b-7d2a-4739-a45b-e93ef6a6c476', 'pay', NULL, '\xf0cb373c35075bff30fe9a4c1630c023', '\xf9700e7335c16db7c233e107112bb36c', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (18, 18, '', 1795638910433, 'began', NULL, '1e5eb335-d3e6-4e74-a9be-a0470eeac907', 'pay', NULL, '\x7fc7d9e8987801f3cf5f7039330e40b7', '\x215b3113b76647d88fe65f2e35d5b3ae', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (19, 19, '', 1795638910451, 'ended', NULL, '1e5eb335-d3e6-4e74-a9be-a0470eeac907', 'pay', NULL, '\xdaa48431d1b9c0a8514cea7bfc6d1974', '\x86063a56f7b026d959d4037b54757155', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (20, 20, '', 1795638910462, 'began', NULL, 'b05ffd35-3675-4240-a834-efebe450f4b1', 'pay', NULL, '\x75ee1cc73afadb09e3495448ba00d414', '\x93b75d421ac310188c30ec365b54349e', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (21, 21, '', 1795638910484, 'ended', NULL, 'b05ffd35-3675-4240-a834-efebe450f4b1', 'pay', NULL, '\x4e784cfa4c4c989791dab09377ed4313', '\x7301b7b23d06fe288c6a089b9d1ffa5d', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (22, 22, '', 1795638910509, 'finished', NULL, 'answered', NULL, NULL, NULL, '\xd549139867de42f041245ffe50cd804c', 1);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (23, 1, '', 1795638910664, 'started', NULL, NULL, NULL, NULL, '\x238ae037eeda919a5fc50f21cd57600c', '\x79e0cdbfb2bd927449e59e0acbe5ac64', 2);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (24, 2, '', 1795638910782, 'began', NULL, 'a84a322f-9f49-4866-b10e-0d1b80309839', 'pay', NULL, '\xf14fc36a94e26157b106b9ab59add93f', '\xc654329ebfd90271f2c45c581826d831', 2);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (25, 3, '', 1795638911129, 'ended', NULL, 'a84a322f-9f49-4866-b10e-0d1b80309839', 'pay', NULL, '\x623ee5f162c8b841d3881355730e93e8', '\x0c65ffdc4d6e5fc8d6c9a936cc2f4b32', 2);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (26, 4, '', 1795638911149, 'began', NULL, '6e70faaa-dc69-42d4-9a2c-8fddc3f55f5b', 'pay', NULL, '\x25768adf8d11a9680dba2d8fc7dc18ea', '\x77139c1f4e300bb084ade2e3f5580666', 2);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (27, 5, '', 1795638911483, 'ended', NULL, '6e70faaa-dc69-42d4-9a2c-8fddc3f55f5b', 'pay', NULL, '\x2d2849d18dead0ee0a557fdad77968c6', '\xe72fa93d354d639d1128fe556c64b40c', 2);
INSERT INTO public.agent_audit_events OVERRIDING SYSTEM VALUE VALUES (28, 6, '', 1795638911503, 'began', NULL, '87fe166a-f0f5-4b06-a6b3-8435d0fc6d4e', 'pay', NULL, '\x97719350759cb8835c0ebaa5e7369c7e', '\x8df080de5a1a790f58dfbf7c8b55976d', 2);
INSERT INTO public.agent_audit_key VALUES (true, 'fa55534f7e04170ef043017395136072');
INSERT INTO public.agent_platform VALUES (true, 0, '\x');
INSERT INTO public.agent_run_commits VALUES (4, 0, '\x079855014fc4a1cc8a898b65a3377ecd6bf1173b9cf8a0ce6fc0c5319e17309bd0b003a98ebcfa22cbb4b568a387c30e4571a939fd019d85ad5ef86291fe5d60c8a5a4c7be5b34c3e6fa2bd84c33189d12cd14fde507e787f21f694643bad63e59cec06c7cfa9ac76b83662e216c5b006537672ca95e9797bfb7e1d7b4897d76ae5b672b57447d84dfaf4898e3a8f49416526dba7346d9bda1fd83506f46ade777c820064934dad3876e9c8ed4bdb47c69c712f220742b28f4dce8568b3289e766731186ecab545acf4dfa1fb580ef0f04c4cc2d82eaa8f477cd0c6cd9ce09891b84f562c014ababa982eebc22ef8a49135c770695065f9e5ac2ae5deb219d127a0cab82e70263a5c5d8c8d0cfcba7e3c472405f2c2c51f4700bd4cc9b30cbcb78a0aff118d8f25a8caf80f80af19df1dd1fb41b6e605930d963cba5253731f4c08ab0d41286741f4e5a82f6e1b12d80cffd879b78048c25a8d1c208c64cf8abc810e23de46e1a', 1795638910058, 1);
INSERT INTO public.agent_run_commits VALUES (8, 4, '\xedf5d7de0d572be7dff9b8d6fc0b74d0bb8c338401b51d1fa4e015aef22ef207530bca472f83e0f151f876eadb06a382bd418e229fda1453c32aada2c520a93c589b1816103807b973adebd06a60ec16fe3014ed9cdea448c5d031cd77bd32056d3e10035817197e713085053c2d837eab4abd1b36d66dccf5a711f90a0f2ca6c5293011179cc18b0e3df3a291a13974a22bf1950b179ce59b9e5e2ca2f084e5e6f1aeb70f92982da10fcb8a5e23fc9262e297704b69d4967aa4746b2243ea56d09f84167de174a2368ba2c5cc22fbc3f799c520ecf378f5dad70466e0354a90b69214f1ceb4ad97ac88c552c417e6ac3e75b704594edcae66622cf78c0feca41aaa8c6a921aa9', 1795638910113, 1);
INSERT INTO public.agent_run_commits VALUES (11, 8, '\xc63e302c6f37246ca4d726f30a1db4ac2cdd543671235e191c9389555d741276c1e6a3d77688780305ddc14413e3a47eb306e538132cb0f2d308ef1e127fb79dd66b8df922120716ade606d75e0e87f2cf19c2f4c72d612b', 1795638910155, 1);
INSERT INTO public.agent_run_commits VALUES (15, 11, '\xb5b3990c820ab4356411e080f27c52b0c3d0f5bd31908b99389d88119622deda52cfaa80963c4a6e855879fa14eb5001f7dbac696e105416a7fe64bb3991ce68bf893b3dab97cab188a1434d283aba51bf504103b416f2bc52aa3a075f60cfed5b45d986f8a789acfe9851d449fc71b84791d12e23643a08c26091a697136d1110a146f0f42d30a3f1a1a4dfbc9f5c0d119203b6aaf05ce3c3e0d0e029ecf615e0a61053f8d50268ca24e26427b9d77b3ada7a6f64155f9d053641d11df97654bbe4387e215ccb76f444cfb0f28213f79daf9ad1071a7bd0ed073325a102e908fd9c3b2cb7cf29ffdcf169640ddb7f8ad2f8e8a4fc486340742ef7323956d8136193a9776c6f0097a6', 1795638910178, 1);
INSERT INTO public.agent_run_commits VALUES (18, 15, '\x3320d0ce1bef75c4e5ac248e6f62a4cade88644f1f64c8120f8d050412d22086bcfa1fb69d51fc80768b4de4fce2b585ea6da93d593356d3d5c9ee9b19d44006bc2834b4bb831e1db06861765cddbc61f071cf263ef88d2cfa4a3ea6', 1795638910211, 1);
INSERT INTO public.agent_run_commits VALUES (22, 18, '\x99b5cf185680375c88baf0f209a5a8cdb56420f7e54a3ddb7cf65f2102a06616ee05797e8b66293e9dbe616e17248cf3d03bb6dfb9e2b15cb08950d9cd04f009f929cf5118acb0cfff515872a66f88240df1634674c8b568fbd2c031ab15c4b126ca29be688286c428d855f85cf9de067d266a1f42d27017e9c1bd2f9387b00d7c052167ca7a469ece2fc215c979d43472b51c515b6e666aecf3b75f4c0a85fed1f034df7f60ddd4c680570e37b9fd05d29b80fc4b36911226f4b3ef4ed23e0b264f4548c977be85b366458076725beab60199b9961a14e5cee3c1a69d43309bf68589d680045dd1ac86c5ac021211ba12b56b0f234502ddbea3bb6ff439912f822961967a9d8135b4d44da2', 1795638910227, 1);
INSERT INTO public.agent_run_commits VALUES (25, 22, '\xb09cd8be677f875999db3563a3e7b2627e5957fe031fc06d1a83a7c8a05c2dc135096e555d082de35d93d8739b51703ba320c79fc262d43ef1883c120a6fb79b54d6b6cc3e8785611c26be3175e7c107d71d1bc0512648241d407ba8', 1795638910237, 1);
INSERT INTO public.agent_run_commits VALUES (29, 25, '\x8878832c775a27041c3fb8ce68b952a007f90bf4defd3226c51294007de4bee4576a491662d36b27c733494113e84b08b20f9a3284f0b8d42005cba35364b198cb4a942c7bd12955f2a6c40a9fb9814ed4408e0d2ad6a66a675ff216ca7405caffa6b8f7256f477d6e3e8863b485a51084692cc9d556ceb9b78dffb47c65f47664604084ec8403554ddd83546cd0b3def59ecd4a0ccd5d7dcf7a492394561c19d758106e80d0040ac9b0c3787e910e1abe7cd1a3037e0fb84f103f00d5584cde57bf2315026400a0466eee03db5068187953c4c0487e6ba6f3cd518ead83e98a378e4d8cc434dc3de136306866a9f8d259e4d375bc15cabb1ccc1323f6a237fb579f10ff98667a07d694461b0cae93fb', 1795638910253, 1);
INSERT INTO public.agent_run_commits VALUES (32, 29, '\x2a2b2171dbf99c23061b48b58788f4fe07e1a1c0203e05a31d48b51f69cd70c6f1e5adba9ea1c1c99e4aa202440747bd1e1435fca0fd6097097a0f38abd4972063fce3505c9173d9acde0e86392e0393b5db2bf0b9bc4730c61d34112576', 1795638910284, 1);
INSERT INTO public.agent_run_commits VALUES (36, 32, '\x58924647735f48fa3f79713956dcc58ef7dac2935ad3516b73b65369f4fe35053d52c251318983ba9fe6f1e67c2777418413243b337a1fbaa8bb86fac8e31833376731525353a02d1395d7c0dab7d68428bfd0b1a0b55604eb31dd1399385bab4b7d908d04d65b68645cd095fbe0a54c5944211b005d97ce42a81e6c40fd60947b60c29d5b3ecf2356a71beb04139bfd736887dfc2e93bc21164899d4517e1af9af0bdea510e1b3d13c6cd7ac2ca8961bca8493b50355fdd71f4726616c13b11c224b4ce89bf42c18cf4606afd1a0f932b43c8023f0ddc510514d20b2f10c97122170d371a68dd771999c6ce8b2ac2be75b899593e27f94e2f04a7848304c0e120a1efe511f4b434d505b0e2344172ec', 1795638910296, 1);
INSERT INTO public.agent_run_commits VALUES (39, 36, '\x034676a5f6a976f4175aa327548b25cfed72ee24402fe73cf54217eeacb70e6250086e5002322ae9df343b2d73aea54a1b74d1005396b5c038a94d43a99f463e835b6b0c5933d39afc99bf2c92b9b361e614de4ee6b522f45242af6ca06f', 1795638910309, 1);
INSERT INTO public.agent_run_commits VALUES (43, 39, '\x842ec7b833ed4deb178a7acd4759a6515883292973b87d9420bca645da1e8a023d7178944d16a4ddbc8e5c57f0cfd78fb1f7275f1ec80d6b26b22a888fa67ffdca356a7498117d91336775d715335bdd5e024feca120bf242198902110301324d11682ef5336309d8c33af9d0d7c709e60a28b766481d79c7a1c6029e06fa2a130970caf11727f1dcf2b2624d7a6f0d47c473f5f276c111ed70e9b194d22441abf999d9d8b3c5ab84c7684d9dce2054b12dbe7f6e5c2d1311691a44f48282491212b4ed2f005e4ddb9b9c0bd63380a163bfa3b4011e5984def765ea3975c9d5cd0f0f321e8d6c45983ecaa04955e499c9d75129139a3352b2ffd5e410fbcd0eb853e40fdd9c43365ce21d3754baa762e0a64', 1795638910319, 1);
INSERT INTO public.agent_run_commits VALUES (46, 43, '\xc00df18c3acc86e7051720c1e5319e05841e8f1d6447e8945d70f8e92fb461d0ceda1510bf563361e680040660656fbaf78ff6e943002a55c833ec622ab3608c5ed8bac4666d52f64bcdc50c1216fe653a16cb77d3d1693bfc9c4fc9934c', 1795638910346, 1);
INSERT INTO public.agent_run_commits VALUES (50, 46, '\x71225257f0405ff6b4d70f5bde79489b16c4e7611f542382b64c27828607e1cf69d7512d65ee7939593a2f6011df6efdd09a80ed0839f09bc751b15e3e8f5a2bf6ce03871ff0546cefbad5dad1cf525dd35fedc64a24a07b8b61a5dd41f2b3316bc108196237682b31885f0d7d25907c1d2f02c74a5b7a53223f56dc07eac7c6bee5106a947e5c4585c26357bf32aecdb9db4655a9cbc15571be616f85fc182463c931bb6c0873d8fb50b115d735fbba0b0d2a09e25daaa1e33d797c0c1443aeeedf476287a69d86b9bd2ba71e6ad40f0a7e9c01c4a9b695e90ca0c65a42db0dac6c232f288f27425c817a1506a1dce7f04036c76be2a43fbfc2975a4709cb1f75604b33f6f00f4c81b4e8babf3b15f358ec8c', 1795638910364, 1);
INSERT INTO public.agent_run_commits VALUES (53, 50, '\xa8b2316d60a74715b2bde99b3003886547658927275b741e28d133a8d67fda99ac952cf9eb708fc93b31154b7ac8b4041dfe371e14fbc57ab64a77d93d4fd773f23425d272abc11d105b3e142586bb2ca5b86557bba5e3bed83f7e537757', 1795638910385, 1);
INSERT INTO public.agent_run_commits VALUES (57, 53, '\xefc34a1e2dacd7f857239ba32446d83f6d73bbdedcdba964ecae2625abe6a667ce3d5b1822ebc835a348b64533102e53060d1df8cbcf538da4455b69d41f0e1ac6f64e5f4c77ca79358edcf0d63d6f6f13ca2f6dde8f795aba0892124567474fe3ac818fcfcd483366285dd39c75c4c4e89df80863f97f888835ffce45043cab092c642d975af226935baa4cf508760e2aaf2a4b4fef113204fc404ff8b6a06091a1a2095fe0ff1e1f7375eecc5aed411915e5f5af91d952737a3856990731f9d3ee977b61ebc8b588f632d2f7c6da492a06489568ac84dc6ed23cc98168ad99b6a8e6d8aeb4bf2b1c02df15467e0de1d6fc6bd1c90997c8c53b09f9ba031df4505b3da0b669dcd18a232c2af303cc4bc614e1', 1795638910405, 1);
INSERT INTO public.agent_run_commits VALUES (60, 57, '\x77e9a30793db05d80de0a4ccee9a66ba188483d957e7e58788f21601528ad4c122ba3b1da757359708a98dd3816a2a2583deb3ed01115b531a8c46981a579346299f6f65a8acb2c6579ef4190327408e7f3160985c105ae8834162cff4de', 1795638910425, 1);
INSERT INTO public.agent_run_commits VALUES (64, 60, '\xa7d61f9846c562cf3bfb636f7a54d7a47029e242462c5c8e796f01a0fc4822000a253044e0acba78c50c6ae3b1ed2ff210e1e7101a09529f44377a9672c0c937c21c8f3deb64593f50e9fc7198cb449388a32d7ff706d64b511d6bc5ba3f98019fd6f665dad14d87d0f7a85d34f62b1818baeb3ab1d04feded9ffc4f13258a6de45eae44f21b95120ebf0c0764fb95518c1797b39956ce0182fe716900dfc2c1e3e2379ad3b0bfa5be599afad5e51303607ab2dabe59f311a5077aecff63580486fe318fc9d9fef804e20c5c16c59276758e31232975f83850065468cd2bafb5c06dd9f030497a7c0da2e79dea43e1d295a3d6d9a14b0bc02f8542839d81e1ec8b4656755ed7d6c0f50888ee0ff1d5ce', 1795638910433, 1);
INSERT INTO public.agent_run_commits VALUES (67, 64, '\xafc43f392fff6257069b26760af5481d10244fe5fbab28410f868e0d4334608e5e2d26ac3661f4bbdde5fbda4c1f6efe9ae5845615c64fe82511ac545214c2510c671c4c154351fb56712735fba802f54dc0fbbd69344f215f7142331554', 1795638910451, 1);
INSERT INTO public.agent_run_commits VALUES (71, 67, '\x9a46ea233f1c8cbff4621cbd2414dc7de2b8cb8ff5fc5384e36b5cf0cae8dc1832fd8589a98f59a2d1cd23c18722cd43cc45b1b86d588315a8eec20981e3451e144cf2ec16222a2c35b91bc979ad192d19162043aa112193ea9aed9c6169e18ed10affd8cb45edd284fc646f8efd81d6ff49672abf4f65e979c6efb04a0de2d93773f107eae65e0f36939185e18b26e02cc4207852bdfcaab70f6cb55a4f526e7263cd345ce1bf4b4cdadf3966591dbe3cb1416ae8f849e3d723b721627f5c16849cd80207b9f6e405008df846f9ce938092c7b0c087b3752f75919fcbac03905c29ada08be4777e0105eb989371a15c196f9764817bb6289ac4f2ca4b5b4434bc651f06e73518de75a71243ab633dd8d9b08a8bc55d', 1795638910462, 1);
INSERT INTO public.agent_run_commits VALUES (74, 71, '\x1c2406619a36acb011f4ebb85eeb08b949031931228aaf61c360bc29dccc01b7bc39803d84325dc50dc71cb70656370ce49509afdd20c1ccb6f013d2d5c4ab51bb9ec02fd05540921587f3f512fdf8cf3488b16291950c24a1d9c8b42bc7', 1795638910484, 1);
INSERT INTO public.agent_run_commits VALUES (79, 74, '\xb7443a0ebe8f90ca4a58910820d98d195a76e6bf877d6663cdbf9ecda2f890d87ec7cea9b5821040c6899bcd41b25cc7006691bdf85cf29a45962fec9e06b79f70656a19bf59ceb41873091c7a2ad945bdb68c34882c52d4f8b2edca642046831fafb057dc55d05bc3a1adf3e463e60efbfff069ca8e8fc8b9d4ed2a6ec2d44584ed71', 1795638910497, 1);
INSERT INTO public.agent_run_commits VALUES (4, 0, '\xa509a15f44cdd4cc24eec4d2e646996a5cd709cd630b4e5fbbca28390966655d6a3e0846564a1fbbdc394053f93298e4a1c66eefbcf1bd9485fc0eb8b0d2057764f08fb8556b6efbfc5d7194ee75fa94e02212fcce17943a62b50f9f023ccdd95254f385373190799b8b86b928af6524ae4d2a433d1e813ee6951478a1deaf978acc4b7babeba1a53703f833b56ff48166439daf2300ee2f8c23de9bbe510ddb7fb5a6c2e268ef089d61bd7fd782501a1c584e8396e1261bed3f1884fb4ee32826db9ec4beb68a5e099b00e26bc69ec3fb4e6182efb8f8e4189e5e9cb7790952c1e0e46993d14310b889f572b34a422e3a49e1ccc41f604fdbdef7d8e22e6fbd7b9e20f40cdda775ee2aac6178dafb0fd8f28dbd9a989e6bfc6dd427bb6279329d21efa28a35e0e20151f139f325e3c2e60ac1317bcbb1759c62e5134bacba3224d697db36305647b7fe26017cf1e3004ea6eaabbdaaf1c341198649210dad0fdc05e3093a311f1f681247', 1795638910767, 2);
INSERT INTO public.agent_run_commits VALUES (8, 4, '\xa2c4224f16be555dfb1e872924091119787aed4d987d8896d69f04b238741305071b6412fa1de397776e0162f749aa14033c069c976f82123375be664f81c5cdf7f957296fe57cb52559ec0712a8fb2415730225e520a98623cc6e98617e8cadf26b990f837e269776fde1d93aa47698cbb63661cb13ae098c2bd782ac389727a597d3655d9a44d097b86cc880abe783d02896ca76e7b48be42af14d5220718db26658bcf5e814d82873f3e5fc93be2f71140751a60c966e179db416812af4f0478765561929685f6908475f9b7c8f07e975f7e87ec291227d7fa40dd433e5f20b681a5df5af62b979512193d42821889666bbbf31fd1b186ed436bcf35050766cc68de4056d', 1795638910782, 2);
INSERT INTO public.agent_run_commits VALUES (11, 8, '\xe21aaffe31f1578e10bb38adf04f8e6857887a98df3f991c2124467f706b40b5f5f683ac6c5cc7cc74ec02d6738bdf720bd819efc290732ca987178d92c74084d9186b704c15726322bdd7af5759bb2f84c93acb3d5bc4c9', 1795638911129, 2);
INSERT INTO public.agent_run_commits VALUES (15, 11, '\x438b75c2ae628ef408a6475b3bc8a9725ad6b6624a2386690383aa874154282a987f982822a37f0cfe09dd86d68377bc28b312d88e7b414d599090333f1710a9cc2f2c7618bc9deab358c22a887c6a888fafdb280c73fe0914dac5a26cc7b6d7b7fab26aed1016bb31a0bd30469e49f153dbe2c0accf8c2234524417a2e21807a4bf04683ed57a450d10d5a4a0732a7af5c41896d195a43a38ee54c66c48cac9a9d5568894b32ae2da4659df0c6bc6ca8a7ba7c8c37b3469312af084983f3b477f1bad8d6f0ad65c4e2e9980be7e163967e642996289a99f9b3d07b64bee7f6c45c94df0dd6e550b7c3551544dc17168f7ca8441ccddddd392d88f6e53c409fc1948f745c947ebc3b60c35', 1795638911149, 2);
INSERT INTO public.agent_run_commits VALUES (18, 15, '\x3970405b769094b725a3be612b6bbd7454d6cd88746d78638aee10b9d9d14c30bfe89c06ef573e848a3a4a8e48a814dc0ff72bdc8ce38af2695eec9ee83b6489da0016ec8e96830696899a4c48f3764bb59ae86dc3b07119f4fbb4d9', 1795638911483, 2);
INSERT INTO public.agent_run_commits VALUES (22, 18, '\xfda351919d0fcb185b5e48d0f897f83570903bc88764085cb9fc7af9b29acd7302f42afac0fcd7d48c2d638bd88ab56d113f8a57a5760170d47cf7d8c13f397bfabc96bfc003186ff57e8a2f3ea49c87ebcfa7005d8769c41c14fe7bd37f624d8f0a630c4bcab3e97167c0f581e40645224dfb023c05d31764726ad619aa00e7c089751d2cc310be13198a0c3e870cff97ae091b9bfe40b3452dccc3b75eba832cd3b813049bbe60b349298e65cb3d16bc85630c8cbbf227ef206e18ca6b9dd120efdf2391bc3dabaf7417db3061cea0d26cbf4823ace97f2aa44d14157bd414c8af1c299503f8454cd442fc2b6daa141b85c4718f0d21f38205b4c49064db3012233ead0872938de319', 1795638911503, 2);
INSERT INTO public.agent_runs OVERRIDING SYSTEM VALUE VALUES (1, '01a2146b-5ba8-7608-8f0b-5c0a1a76e9b8', '', 'october', 'cashier', NULL, 0, '\xc8f5f78e106fe6b662271dfa70f81892e68dbe5f10eef11ae5ae8bab1a2bcc64d836dbb61c89c9782227f4153dacea7be886bdb77f80e9306a38ef10e1ff475a6aaa0629e77873f85d8f7a7ae782967333ca3af9fe265686', '\x01000000bb70b890fd92a48df900a14e5f977b6ceabb952d77cf028359a42f6ca8661cff915145e7327e9ad2c96163c7d2e8716c859109127734832e62bc027b8c32eaaf6b083fe02276043c', 'done', NULL, NULL, NULL, 1, 0, 0, 'answered', NULL, NULL, 79, '01a2146b-5e1b-73e0-89e6-a688c0077f4a', 1795638909932, 1795638910509, 22, '\xd549139867de42f041245ffe50cd804c', '{}', NULL, NULL, 1795638910497);
INSERT INTO public.agent_runs OVERRIDING SYSTEM VALUE VALUES (2, '01a2146b-5eb6-73d1-9f73-be84d3be88fe', '', 'november', 'cashier', NULL, 0, '\x1c22520a5ac197d6495e01a595305344e847dba34db91864ac3b97c7932c8d1cf9843a10f2125675208c39a615402244d8d9817163887db7cb1ecb35f5ed958ba7c45dc40e6b3429e5f3ddb817053d3d0e4255d4f1a64dd8', '\x01000000624827ed8184ee4408a065061462f70dea8c420ec2314bcfab81d27418a6bc8ce5fbb90c5aaf839a6f70f1db72efc304de7ab5fc708d9d60a5de246f6a1c36c4be9e1f11704489e8', 'running', NULL, '24816-01a2146b5eb673d19f73be83915b1870', 1795638913181, 1, 0, 0, NULL, NULL, NULL, 22, '01a2146b-620a-748c-a93c-2ac2014e7624', 1795638910664, 1795638910709, 6, '\x8df080de5a1a790f58dfbf7c8b55976d', '{}', NULL, NULL, 1795638911503);
INSERT INTO public.agent_schema_history VALUES (1, 'runs', '2026-11-25T20:35:09.616075592Z', '7284393631275480126');
INSERT INTO public.agent_schema_history VALUES (2, 'audit', '2026-11-25T20:35:09.616103601Z', '10624551122759015744');
INSERT INTO public.agent_schema_history VALUES (3, 'operations', '2026-11-25T20:35:09.616106695Z', '10953908719076536487');
INSERT INTO public.agent_schema_history VALUES (4, 'conversations', '2026-11-25T20:35:09.616109668Z', '17694727449946551309');
INSERT INTO public.agent_schema_history VALUES (6, 'numbers', '2026-11-25T20:35:09.616112334Z', '6683338735095622299');
INSERT INTO public.agent_schema_history VALUES (7, 'modes', '2026-11-25T20:35:09.61611564Z', '9350706640976724984');
INSERT INTO public.agent_tool_executions VALUES ('0e137536-a12c-461d-8c70-dbb01a4a10d6', '', '01a2146b-5ba8-7608-8f0b-5c0a1a76e9b8', '3dd46b842da76951b84816e77fa936b6', 1, 'cashier', 'pay', '1.0.0', '\xf4c6a052c6b972550453a6cb95bdba4c5667cdfe280e893dda0cfe0d4f7765f8d5e5f22c7d82efd4ee20802002a1191baf843f00', '\x8abb34e4e06300c8a403f14949b4e58019ad7a8831201a0c42629066f363d4de59f0398c352aa37d401f4c1645a4', false, NULL, 'medium', 1795638910113, 42, NULL, false, false, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO public.agent_tool_executions VALUES ('ecbca935-929f-4a51-8a4f-5891c8850320', '', '01a2146b-5ba8-7608-8f0b-5c0a1a76e9b8', '633d2946ff51f4b86f0f4658e3f75623', 1, 'cashier', 'pay', '1.0.0', '\xc709188f504d768379f9195d98ba56524ff8d60a2384eb433b868ff9a7b6e80ad465f77e27d73220156b7d7e547fab0e701b1a16', '\xddd1c4ccc30e500889e5a53b0c0b2ec811913826f88ca5e220c1d61b7fe8318d9f4cff2ef8429e70e6336116114f', false, NULL, 'medium', 1795638910178, 33, NULL, false, false, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO public.agent_tool_executions VALUES ('3672f06c-4bc6-4643-82a3-4142226af415', '', '01a2146b-5ba8-7608-8f0b-5c0a1a76e9b8', 'bf8f990dd5075f8bc39da0320b31c3f9', 1, 'cashier', 'pay', '1.0.0', '\x9e5e8d89c6b0caf828d07fa40043d2a558fe6f93e018b882b6c4a7fca52d72d932568f2d7d6cd039bd0205e848b757615e0af58e', '\x58d888f0d3df95e0537a558defc186f52030a20417a27e46753dd84c3bc513fa9345a73dfe82e6bd1b4ed777e217', false, NULL, 'medium', 1795638910227, 10, NULL, false, false, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO public.agent_tool_executions VALUES ('d5267735-22b7-4ffe-8275-6a50068602fd', '', '01a2146b-5ba8-7608-8f0b-5c0a1a76e9b8', '834a9d44167993f581a57ac702a759b7', 1, 'cashier', 'pay', '1.0.0', '\x46604832bc6ca32e1e7fd420dc743df4924d9a9657f0341251d2400bcb2ab9622286a17604f0eb5b99282edc024b7e260d14f498', '\x6aac05c187b7174abf2ca5eb5d96e874bdd25268da679abcab468d473af90b5a3af1456651325fbb22d8364c07a1', false, NULL, 'medium', 1795638910253, 31, NULL, false, false, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO public.agent_tool_executions VALUES ('33a8acb4-6f9b-48e8-9d3c-4a54dda7d5dc', '', '01a2146b-5ba8-7608-8f0b-5c0a1a76e9b8', '6e5e692abba2edd62448e38c90b74747', 1, 'cashier', 'pay', '1.0.0', '\x4a8eb611160391e625efe12098a64d46a94f9c8b54ae91189ac032cc458163a2c38dc5e16341d026da85797eada269d2361100ec', '\x03a3e42372959bc2871d32a4e19af050cf53778efb52e47e2d5f83fa2ad12a3fa1c39156c623b13f853c3410e047', false, NULL, 'medium', 1795638910296, 13, NULL, false, false, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO public.agent_tool_executions VALUES ('ccd6cb76-8299-4e6a-905b-72a606c407f2', '', '01a2146b-5ba8-7608-8f0b-5c0a1a76e9b8', '875b3c077e8ca9caaac00de428c689bb', 1, 'cashier', 'pay', '1.0.0', '\x2e3eb6cd1e4b45927e8abf7a5ce2229bc99e1befa76570673fc9e1ecc1d2532c310beb9aa93454a78a9286595717894f5ebf60e2', '\x2aa9b1e661589593dd7ba92af8bc226aef45fc4096df475374c0a15283c9113d030ee96744c3b8770a6047499d5c', false, NULL, 'medium', 1795638910319, 27, NULL, false, false, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO public.agent_tool_executions VALUES ('8234927d-e756-442c-9875-51432ba02744', '', '01a2146b-5ba8-7608-8f0b-5c0a1a76e9b8', 'c8758740ed8c2cdb9c5f1a2ac9a1b1aa', 1, 'cashier', 'pay', '1.0.0', '\xbcc570f656fafebc31cfa5c0f2a2df5a1e8f9ac2b724c5cabd809c244618c7fa98731d7142adb538b31fadecef207e532718ae9b', '\x852f5a4982a6e0a66aa2bae544aa8f8fe4095c3be9667a807c75e6d01f696ec3233d08ae9554ea76b068b3546881', false, NULL, 'medium', 1795638910364, 21, NULL, false, false, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO public.agent_tool_executions VALUES ('ff02504b-7d2a-4739-a45b-e93ef6a6c476', '', '01a2146b-5ba8-7608-8f0b-5c0a1a76e9b8', 'b861f9a21f61e2985e76bd1d6be82a8a', 1, 'cashier', 'pay', '1.0.0', '\xca3db7539e1d9d89c701830437b621d415c860954f0f1ea0701050e89fefadfc68cf1424188c17a2a3daeae609cdc9375fc6d826', '\x9a826f12fcc504b5ee3f06b23025edd8c543db0dee411c19bae71fc752fd271a127dc9e7398e3d9cb8d6e0987240', false, NULL, 'medium', 1795638910405, 20, NULL, false, false, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO public.agent_tool_executions VALUES ('1e5eb335-d3e6-4e74-a9be-a0470eeac907', '', '01a2146b-5ba8-7608-8f0b-5c0a1a76e9b8', 'b24e25765cdc4e40939dc2c21f6465ef', 1, 'cashier', 'pay', '1.0.0', '\x0285a2257c9114d98c1a5670fd178f2ce015830d1ee668849b0fd7e13254cd49535dda3399d54a7582b7be381d88abe5203ad445', '\x513fb77cc293e8dca182dbcdece4016bd7a0bce826b49cfe0a577fc4d6bd273209c69dd83433b87881ec3ce2baf1', false, NULL, 'medium', 1795638910433, 18, NULL, false, false, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO public.agent_tool_executions VALUES ('b05ffd35-3675-4240-a834-efebe450f4b1', '', '01a2146b-5ba8-7608-8f0b-5c0a1a76e9b8', '14adb44f5ccb3b984641d6f412e1cc79', 1, 'cashier', 'pay', '1.0.0', '\xe027ea44c100549fbb39f8346c8aa46d88d107589ee6f447c5ed19b921d5716dbbe4ed18fccbe9cec0e377be962ed0444e7e1106fd', '\xcded80a0bfc9fb2feb641c85982f058ee49846c1f20136f1abb5f0333f744ea4f025afeb73d1a617194e59a34c42', false, NULL, 'medium', 1795638910462, 22, NULL, false, false, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO public.agent_tool_executions VALUES ('a84a322f-9f49-4866-b10e-0d1b80309839', '', '01a2146b-5eb6-73d1-9f73-be84d3be88fe', '3dd46b842da76951b84816e77fa936b6', 1, 'cashier', 'pay', '1.0.0', '\x27218630c7e3d40bebe0503c013911485e6c0692195c70097ff39e8b369c419511304fef2b386b9b21b03d5971a39fa3f6cde948', '\xcc0f3c040a8ac592252d61cdb055ad86e7dccd0403c0ae2e45be959fc10c0eaae103c2435b76f3e86e6fbf3ded1e', false, NULL, 'medium', 1795638910782, 347, NULL, false, false, NULL, NULL, NULL, NULL, NULL, 2);
INSERT INTO public.agent_tool_executions VALUES ('6e70faaa-dc69-42d4-9a2c-8fddc3f55f5b', '', '01a2146b-5eb6-73d1-9f73-be84d3be88fe', '633d2946ff51f4b86f0f4658e3f75623', 1, 'cashier', 'pay', '1.0.0', '\x89ac27e9e06049fabb9498a11473de3d17ffd05d79ea4bd62839904bf7098b52484f098193184322af950df8480d468245403a06', '\xdb4b29b6e76d14518ca9a6aacc93ee91a4a217d4845cddf99a87a30f6d16a1caf2df098b30cb60d4f5267896e83d', false, NULL, 'medium', 1795638911149, 334, NULL, false, false, NULL, NULL, NULL, NULL, NULL, 2);
INSERT INTO public.agent_tool_executions VALUES ('87fe166a-f0f5-4b06-a6b3-8435d0fc6d4e', '', '01a2146b-5eb6-73d1-9f73-be84d3be88fe', 'bf8f990dd5075f8bc39da0320b31c3f9', 1, 'cashier', 'pay', '1.0.0', '\xb1d3738357ae5688d6fdf56d495cfa5d9e8dbcbf1541676039ffe0230e81a129913ae699aeed6343b9b55ff9de07e1b037f8ef4b', NULL, false, NULL, 'medium', 1795638911503, NULL, NULL, false, false, NULL, NULL, NULL, NULL, NULL, 2);
SELECT pg_catalog.setval('public.agent_approvals_number_seq', 1, false);
SELECT pg_catalog.setval('public.agent_audit_events_number_seq', 28, true);
SELECT pg_catalog.setval('public.agent_runs_number_seq', 2, true);
ALTER TABLE ONLY public.agent_approvals
    ADD CONSTRAINT agent_approvals_id_key UNIQUE (id);
ALTER TABLE ONLY public.agent_approvals
    ADD CONSTRAINT agent_approvals_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.agent_approvals
    ADD CONSTRAINT agent_approvals_run_id_request_key UNIQUE (run_id, request);
ALTER TABLE ONLY public.agent_audit_events
    ADD CONSTRAINT agent_audit_events_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.agent_audit_events
    ADD CONSTRAINT agent_audit_events_run_seq_key UNIQUE (run, seq);
ALTER TABLE ONLY public.agent_audit_key
    ADD CONSTRAINT agent_audit_key_pkey PRIMARY KEY (one);
ALTER TABLE ONLY public.agent_conversations
    ADD CONSTRAINT agent_conversations_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY public.agent_deliveries
    ADD CONSTRAINT agent_deliveries_pkey PRIMARY KEY (webhook, event);
ALTER TABLE ONLY public.agent_modes
    ADD CONSTRAINT agent_modes_pkey PRIMARY KEY (tenant_id);
ALTER TABLE ONLY public.agent_platform
    ADD CONSTRAINT agent_platform_pkey PRIMARY KEY (one);
ALTER TABLE ONLY public.agent_run_commits
    ADD CONSTRAINT agent_run_commits_pkey PRIMARY KEY (run, last_seq);
ALTER TABLE ONLY public.agent_run_texts
    ADD CONSTRAINT agent_run_texts_pkey PRIMARY KEY (run_id, number);
ALTER TABLE ONLY public.agent_runs
    ADD CONSTRAINT agent_runs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.agent_schema_history
    ADD CONSTRAINT agent_schema_history_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.agent_tool_executions
    ADD CONSTRAINT agent_tool_executions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.agent_webhooks
    ADD CONSTRAINT agent_webhooks_pkey PRIMARY KEY (name);
CREATE INDEX idx_agent_approvals_expiry ON public.agent_approvals USING btree (expires_at) WHERE (status = 'pending'::text);
CREATE INDEX idx_agent_approvals_pending ON public.agent_approvals USING btree (tenant_id, number) WHERE (status = 'pending'::text);
CREATE INDEX idx_agent_approvals_unused ON public.agent_approvals USING btree (use_by) WHERE (status = 'approved'::text);
CREATE INDEX idx_agent_audit_events_tenant ON public.agent_audit_events USING btree (tenant_id, number);
CREATE INDEX idx_agent_conversations_run ON public.agent_conversations USING btree (run_id) WHERE (run_id IS NOT NULL);
CREATE INDEX idx_agent_deliveries_due ON public.agent_deliveries USING btree (webhook, next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX idx_agent_run_texts_expiry ON public.agent_run_texts USING btree (expires_at);
CREATE INDEX idx_agent_runs_contents ON public.agent_runs USING btree (updated_at) WHERE ((status = 'done'::text) AND (length(data_key) > 0));
CREATE INDEX idx_agent_runs_conversation ON public.agent_runs USING btree (tenant_id, conversation, number) WHERE (conversation IS NOT NULL);
CREATE UNIQUE INDEX idx_agent_runs_key ON public.agent_runs USING btree (tenant_id, agent_name, key) WHERE (key IS NOT NULL);
CREATE INDEX idx_agent_runs_labels ON public.agent_runs USING gin (labels jsonb_path_ops) WHERE (labels <> '{}'::jsonb);
CREATE UNIQUE INDEX idx_agent_runs_number ON public.agent_runs USING btree (number);
CREATE INDEX idx_agent_runs_open ON public.agent_runs USING btree (tenant_id, conversation, number) WHERE ((conversation IS NOT NULL) AND (status <> 'done'::text));
CREATE INDEX idx_agent_runs_ready ON public.agent_runs USING btree (priority DESC, updated_at, number) WHERE (status = 'ready'::text);
CREATE INDEX idx_agent_runs_running ON public.agent_runs USING btree (tenant_id) WHERE (status = 'running'::text);
CREATE INDEX idx_agent_runs_tenant ON public.agent_runs USING btree (tenant_id, number);
CREATE INDEX idx_agent_runs_unfinished ON public.agent_runs USING btree (status) WHERE (status <> 'done'::text);
CREATE INDEX idx_agent_runs_wake ON public.agent_runs USING btree (wake_at) WHERE ((status = 'waiting'::text) AND (wake_at IS NOT NULL));
CREATE INDEX idx_tool_executions_doubts ON public.agent_tool_executions USING btree (executed_at, id) WHERE (effect_unknown AND (had_effect IS NULL));
CREATE INDEX idx_tool_executions_run ON public.agent_tool_executions USING btree (run);
CREATE INDEX idx_tool_executions_tenant ON public.agent_tool_executions USING btree (tenant_id, executed_at DESC);
CREATE INDEX idx_tool_executions_tool ON public.agent_tool_executions USING btree (tool_name, executed_at DESC);
ALTER TABLE ONLY public.agent_approvals
    ADD CONSTRAINT agent_approvals_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.agent_runs(id);
ALTER TABLE ONLY public.agent_conversations
    ADD CONSTRAINT agent_conversations_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.agent_runs(id);
ALTER TABLE ONLY public.agent_run_commits
    ADD CONSTRAINT agent_run_commits_run_fkey FOREIGN KEY (run) REFERENCES public.agent_runs(number);
ALTER TABLE ONLY public.agent_run_texts
    ADD CONSTRAINT agent_run_texts_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.agent_runs(id);
ALTER TABLE ONLY public.agent_tool_executions
    ADD CONSTRAINT agent_tool_executions_run_fkey FOREIGN KEY (run) REFERENCES public.agent_runs(number);
ALTER TABLE ONLY public.agent_tool_executions
    ADD CONSTRAINT agent_tool_executions_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.agent_runs(id);
ALTER TABLE public.agent_approvals ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.agent_audit_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.agent_conversations ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.agent_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.agent_modes ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.agent_platform ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.agent_run_commits ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.agent_run_texts ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.agent_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.agent_tool_executions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.agent_webhooks ENABLE ROW LEVEL SECURITY;
CREATE POLICY agents_tenant ON public.agent_approvals USING ((tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
CREATE POLICY agents_tenant ON public.agent_audit_events USING ((tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
CREATE POLICY agents_tenant ON public.agent_conversations USING ((tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
CREATE POLICY agents_tenant ON public.agent_modes FOR SELECT USING (((tenant_id = '*'::text) OR (tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text))));
CREATE POLICY agents_tenant ON public.agent_run_commits USING ((EXISTS ( SELECT 1
   FROM public.agent_runs
  WHERE ((agent_runs.number = agent_run_commits.run) AND (agent_runs.tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text))))));
CREATE POLICY agents_tenant ON public.agent_run_texts USING ((EXISTS ( SELECT 1
   FROM public.agent_runs
  WHERE ((agent_runs.id = agent_run_texts.run_id) AND (agent_runs.tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text))))));
CREATE POLICY agents_tenant ON public.agent_runs USING ((tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
CREATE POLICY agents_tenant ON public.agent_tool_executions USING ((tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
