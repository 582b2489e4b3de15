//! Tools of documents, and the defects of other documents.

use crate::PETS;
use agents::{
    Effects,
    tool::{NeedsApproval, ToolSet, ToolSpec},
};
use agents_needs::Need;
use agents_openapi::Api;
use serde_json::{Value, json};

fn pets() -> Api {
    Api::read(PETS)
        .unwrap()
        .secret("api_key", "pets")
        .secret("login", "pets-login")
        .secret("token", "pets-token")
}

fn spec<'a>(tools: &'a ToolSet, name: &str) -> &'a ToolSpec {
    tools.get(name).unwrap().spec()
}

#[test]
fn t7_each_operation_is_a_tool_with_the_effects_of_its_method() {
    let tools = pets().without("uploadPhoto").tools().unwrap();
    let kinds: Vec<_> = tools
        .specs()
        .map(|spec| (&*spec.name, spec.effects, spec.approval))
        .collect();
    let (reads, writes) = (
        (Effects::Reads, NeedsApproval::Never),
        (Effects::Writes, NeedsApproval::Always),
    );
    assert_eq!(
        kinds,
        [
            ("listPets", reads.0, reads.1),
            ("createPet", writes.0, writes.1),
            ("getPet", reads.0, reads.1),
            ("renamePet", writes.0, writes.1),
            ("deletePet", writes.0, writes.1),
        ]
    );
    let create = tools.get("createPet").unwrap();
    assert_eq!(
        create.spec().description,
        "Creates a pet.\nThe server gives it an id."
    );
    assert_eq!(
        (create.spec().idempotent, &*create.spec().version),
        (true, "1.4.0")
    );
    assert!(!spec(&tools, "deletePet").idempotent);
    assert_eq!(
        spec(&tools, "deletePet").description,
        "Deprecated. DELETE /pets/{petId}"
    );
    let named = pets().named("shop").only("shop_get*").tools().unwrap();
    assert_eq!(named.specs().next().unwrap().name, "shop_getPet");
}

#[test]
fn arguments_are_parameters_and_the_body() {
    let tools = pets().skip_unfit().tools().unwrap();
    let list = spec(&tools, "listPets").input_schema.clone();
    assert_eq!(
        list["properties"]["limit"],
        json!({"type": "integer", "minimum": 1, "maximum": 100})
    );
    assert_eq!(
        list["properties"]["X-Trace"],
        json!({"type": "string", "description": "Id of the trace."})
    );
    assert_eq!(list.get("required"), None);

    let create = spec(&tools, "createPet").input_schema.clone();
    let pet = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "nickname": {"type": ["string", "null"]}, "mother": {"$ref": "#/$defs/Pet"},
    }});
    assert_eq!(create["properties"]["body"], pet);
    assert_eq!(create["$defs"]["Pet"], pet);
    assert_eq!(create["required"], json!(["body"]));
    assert!(
        create["properties"].get("Idempotency-Key").is_none(),
        "the run makes it"
    );
    // The schema is one that arguments are read by.
    let create = tools.get("createPet").unwrap();
    let mother = r#"{"body": {"name": "Rex", "mother": {"name": "Bella", "nickname": null}}}"#;
    assert!(create.prepare(mother).is_ok());
    assert!(
        create
            .prepare(r#"{"body": {"name": "Rex", "mother": {"name": 1}}}"#)
            .is_err()
    );
}

#[test]
fn an_operation_that_cannot_be_a_tool_is_named_with_its_field() {
    let error = pets().tools().unwrap_err().to_string();
    assert!(
        error.contains("- operation `uploadPhoto`, `requestBody`: it is `multipart/form-data`"),
        "{error}"
    );
    let bare = Api::read(PETS)
        .unwrap()
        .without("uploadPhoto")
        .tools()
        .unwrap_err()
        .to_string();
    let lines: Vec<_> = bare.lines().skip(1).collect();
    assert_eq!(lines.len(), 4, "{bare}");
    assert_eq!(
        lines[0],
        "- operation `createPet`, `security`: it needs `api_key`; name the secret with `.secret(\"api_key\", \"name of the secret\")`"
    );
    assert!(
        lines[1].contains("it needs `key_in_query` or `api_key`"),
        "{bare}"
    );
    let unfit = pets().unfit();
    assert_eq!((unfit.len(), &*unfit[0].name), (1, "uploadPhoto"));
    assert!(
        pets()
            .only("nothing*")
            .tools()
            .unwrap_err()
            .to_string()
            .contains("matches no operation")
    );
}

/// Returns the error of a document with this one operation at `/things/{id}`.
fn error_of(operation: Value) -> String {
    let document = json!({
        "openapi": "3.1.0", "info": {"version": "1"}, "servers": [{"url": "https://things.example.com"}],
        "paths": {"/things/{id}": {"get": operation}},
        "components": {"securitySchemes": {"cookie": {"type": "apiKey", "in": "cookie", "name": "c"}}},
    });
    let api = Api::read(&document.to_string())
        .unwrap()
        .secret("cookie", "c")
        .secret("gone", "g");
    api.tools().unwrap_err().to_string()
}

#[test]
fn a_mistake_in_an_operation_names_the_operation_and_the_field() {
    let id = json!({"name": "id", "in": "path", "required": true, "schema": {}});
    for (operation, said) in [
        (
            json!({"operationId": "one"}),
            "operation `one`, `parameters.id`: the path names it",
        ),
        (
            json!({"parameters": [id, {"in": "query"}]}),
            "operation `get_things_id`, `parameters`: it has no name",
        ),
        (
            json!({"operationId": "one", "parameters": [id, {"name": "x", "in": "body"}]}),
            "`parameters.x`: it is not `path`",
        ),
        (
            json!({"operationId": "one", "parameters": [id, {"name": "x", "in": "query"}]}),
            "`parameters.x`: it has neither `schema`",
        ),
        (
            json!({"operationId": "one", "parameters": [id, {"name": "x", "in": "path", "schema": {}}]}),
            "`parameters.x`: it is in the path by its `in`",
        ),
        (
            json!({"operationId": "one", "parameters": [id, {"name": "x", "in": "query", "schema": {"$ref": "#/components/schemas/X"}}]}),
            "`parameters.x`: `$ref` leads to `#/components/schemas/X`, which is not there",
        ),
        (
            json!({"operationId": "one", "parameters": [{"$ref": "#/nowhere"}]}),
            "`parameters`: `$ref` leads to `#/nowhere`",
        ),
        (
            json!({"operationId": "one", "parameters": [{"$ref": "other.json#/x"}]}),
            "which is in another document",
        ),
        (
            json!({"operationId": "one", "parameters": [id, {"name": "s", "in": "cookie", "required": true}]}),
            "`parameters.s`: a required cookie",
        ),
        (
            json!({"operationId": "one", "parameters": [id], "requestBody": "x"}),
            "`requestBody`: `requestBody` is not an object",
        ),
        (
            json!({"operationId": "one", "parameters": [id], "security": [{"cookie": []}]}),
            "`security`: the security scheme `cookie` is an API key in the cookie",
        ),
        (
            json!({"operationId": "one", "parameters": [id], "security": [{"gone": []}]}),
            "`components.securitySchemes` has no `gone`",
        ),
    ] {
        let error = error_of(operation);
        assert!(error.contains(said), "{error}\nis not\n{said}");
    }
}

#[test]
fn a_document_that_is_none_says_so() {
    for (text, said) in [
        ("{", "the document is not JSON"),
        ("{}", "`openapi` is missing"),
        (
            r#"{"openapi": "2.0"}"#,
            "`openapi` is `2.0`; documents of the versions 3.0 and 3.1 are read",
        ),
        (r#"{"openapi": "3.1.0"}"#, "`paths` is missing"),
    ] {
        let error = Api::read(text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let document =
        |server: Value| json!({"openapi": "3.0.0", "paths": {}, "servers": server}).to_string();
    for (server, said) in [
        (json!([]), "names no server by an absolute URL"),
        (
            json!([{"url": "/v1"}]),
            "names no server by an absolute URL",
        ),
        (
            json!([{"url": "ftp://pets.example.com"}]),
            "is not the URL of a server",
        ),
        (
            json!([{"url": "https://{region}.example.com"}]),
            "is not the URL of a server",
        ),
        (
            json!([{"url": "https://a b/"}]),
            "is not the URL of a server",
        ),
        (
            json!([{"url": "https://user:pass@pets.example.com/"}]),
            "is not the URL of a server",
        ),
        (
            json!([{"url": "https://300.1.1.1"}]),
            "is not the URL of a server",
        ),
        (
            json!([{"url": "https://a[b"}]),
            "is not the URL of a server",
        ),
        (
            json!([{"url": "https://[::1"}]),
            "is not the URL of a server",
        ),
        (
            json!([{"url": "https://a:b:80"}]),
            "is not the URL of a server",
        ),
        (
            json!([{"url": "http://pets.example.com"}]),
            "would be asked over plain HTTP",
        ),
    ] {
        let error = Api::read(&document(server))
            .unwrap()
            .tools()
            .unwrap_err()
            .to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn two_operations_of_one_name_are_told_apart() {
    let document = json!({"openapi": "3.1.0", "servers": [{"url": "https://x.example.com"}], "paths": {
        "/a": {"get": {"operationId": "same"}}, "/b": {"get": {"operationId": "same"}}, "/c": {"get": {}},
    }});
    let api = Api::read(&document.to_string()).unwrap();
    let error = api.tools().unwrap_err().to_string();
    assert!(
        error.contains("operation `same`, `operationId`: the name `same` is taken by GET /a"),
        "{error}"
    );
    let tools = api.skip_unfit().tools().unwrap();
    let names: Vec<_> = tools.specs().map(|spec| spec.name.to_string()).collect();
    assert_eq!(names, ["same", "get_c"]);
}

#[test]
fn an_operation_whose_id_no_model_can_write_is_named_by_its_method_and_path() {
    let document = json!({"openapi": "3.1.0", "servers": [{"url": "https://x.example.com"}], "paths": {
        "/a": {"get": {"operationId": "取得"}, "put": {"operationId": "__"}, "delete": {"operationId": "ü7"}},
    }});
    let tools = Api::read(&document.to_string()).unwrap().tools().unwrap();
    let names: Vec<_> = tools.specs().map(|spec| spec.name.to_string()).collect();
    assert_eq!(names, ["get_a", "put_a", "7"]);
}

#[test]
fn a_schema_with_many_references_shows_each_once() {
    let mut schemas = serde_json::Map::new();
    // Each level names the next one twice: inlined, there would be a million.
    for level in 0..20 {
        let next = json!({"$ref": format!("#/components/schemas/L{}", level + 1)});
        schemas.insert(
            format!("L{level}"),
            json!({"type": "object", "properties": {"a": next, "b": next}}),
        );
    }
    schemas.insert("L20".to_owned(), json!({"type": "string"}));
    let body =
        json!({"content": {"application/json": {"schema": {"$ref": "#/components/schemas/L0"}}}});
    let document = json!({"openapi": "3.1.0", "servers": [{"url": "https://x.example.com"}],
        "paths": {"/a": {"post": {"operationId": "deep", "requestBody": body}}}, "components": {"schemas": schemas}});
    let tools = Api::read(&document.to_string()).unwrap().tools().unwrap();
    let schema = &spec(&tools, "deep").input_schema;
    assert_eq!(schema["$defs"].as_object().unwrap().len(), 21);
    assert!(schema.to_string().len() < 4_000);
}

#[cfg(feature = "yaml")]
#[test]
fn a_document_may_be_yaml() {
    let text = "openapi: 3.1.0\nservers:\n  - url: https://x.example.com\npaths:\n  /a:\n    get:\n      operationId: look\n";
    let tools = Api::read(text).unwrap().tools().unwrap();
    assert!(tools.get("look").is_some());
    assert!(
        Api::read("a: [")
            .unwrap_err()
            .to_string()
            .contains("neither JSON nor YAML")
    );
}

/// Counts the operations of a public document, by hand: `AGENTS_OPENAPI=FILE`.
#[test]
fn operations_of_a_given_document_are_counted() {
    let Ok(path) = std::env::var("AGENTS_OPENAPI") else {
        return Need::OpenApi.missing("AGENTS_OPENAPI names no file");
    };
    let document: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let schemes = document["components"]["securitySchemes"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    let api = Api::read(&document.to_string())
        .unwrap()
        .server("https://x.example.com")
        .skip_unfit();
    let api = schemes
        .keys()
        .fold(api, |api, scheme| api.secret(scheme, "secret"));
    let (tools, unfit) = (api.tools().unwrap(), api.unfit());
    println!("{} tools, {} unfit", tools.len(), unfit.len());
    let mut sizes: Vec<_> = tools
        .specs()
        .map(|spec| spec.input_schema.to_string().len())
        .collect();
    sizes.sort_unstable();
    println!(
        "schemas: median {} bytes, largest {} bytes",
        sizes[sizes.len() / 2],
        sizes[sizes.len() - 1]
    );
    for one in unfit {
        println!("- {}", one.reason);
    }
}
