//! Parsing of messages and mailboxes, intact and damaged.

use abduce::text::{Mail, Messages};
use proptest::prelude::*;

fn mails(file: &[u8]) -> Vec<Mail> {
    Messages::new(file)
        .collect::<abduce::Result<_>>()
        .expect("memory can be read")
}

const MULTIPART: &str = "From: =?iso-8859-1?Q?Andr=E9?= <andre@example.org>\r\n\
    Subject: =?utf-8?B?R3LDvMOfZQ==?=\r\n\
    MIME-Version: 1.0\r\n\
    Content-Type: multipart/mixed; boundary=\"outer\"\r\n\r\n\
    preamble\r\n\
    --outer\r\n\
    Content-Type: multipart/alternative; boundary=\"inner\"\r\n\r\n\
    --inner\r\n\
    Content-Type: text/plain; charset=iso-8859-1\r\n\
    Content-Transfer-Encoding: quoted-printable\r\n\r\n\
    Caf=E9 at no=\r\non\r\n\
    --inner\r\n\
    Content-Type: text/html; charset=utf-8\r\n\r\n\
    <p>only in the page</p>\r\n\
    --inner--\r\n\
    --outer\r\n\
    Content-Type: text/plain; name=\"secret.txt\"\r\n\
    Content-Disposition: attachment; filename=\"secret.txt\"\r\n\
    Content-Transfer-Encoding: base64\r\n\r\n\
    YXR0YWNoZWQ=\r\n\
    --outer--\r\n";

#[test]
fn headers_and_bodies_are_decoded_and_attachments_skipped() {
    let [mail] = &mails(MULTIPART.as_bytes())[..] else {
        panic!("expected one message");
    };
    assert_eq!(mail.subject, "Grüße");
    assert_eq!(mail.from, "André andre@example.org");
    assert!(mail.body.contains("Café at noon"), "{}", mail.body);
    assert!(!mail.body.contains("attached"));
    assert!(!mail.body.contains("only in the page"));
}

#[test]
fn html_is_reduced_to_its_text() {
    let page = "Subject: s\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\n\
                PHRkPldpbjwvdGQ+PHRkPmM8Yj5hPC9iPnNoJiMzMzs8L3RkPg==\n";
    let mail = Mail::parse(page.as_bytes());
    let words: Vec<&str> = mail.body.split_whitespace().collect();
    assert_eq!(words, ["Win", "cash!"]);
}

#[test]
fn html_is_used_if_the_text_part_is_empty() {
    let message = "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\n \n\
                   --b\nContent-Type: text/html\n\n<b>news</b>\n--b--\n";
    assert_eq!(Mail::parse(message.as_bytes()).body.trim(), "news");
}

#[test]
fn charsets_are_decoded() {
    for (charset, bytes, text) in [
        ("gb2312", &b"\xc4\xe3\xba\xc3"[..], "你好"),
        ("shift_jis", b"\x82\xb1\x82\xf1", "こん"),
        ("koi8-r", b"\xf0\xd2\xc9", "При"),
        ("euc-kr", b"\xbe\xc8", "안"),
        ("windows-1252", b"\x80", "€"),
    ] {
        let mut message = format!("Content-Type: text/plain; charset={charset}\n\n").into_bytes();
        message.extend_from_slice(bytes);
        assert_eq!(Mail::parse(&message).body, text, "{charset}");
    }
}

#[test]
fn mailboxes_are_split_only_at_from_lines_of_messages() {
    let file = "\nFrom MAILER Mon Jan  1 10:00:00 2024\nSubject: one\n\nFrom here it is far.\n\n\
                From here too.\n>From 10:00:00 on\n>>From quoted\n> From other\n\n\
                From - Mon Jan  1 10:00:00 2024\r\nSubject: two\r\n\r\nbody\r\n\r\n\
                From x Mon Jan 01 10:00 2024\nSubject: three\n";
    let mails = mails(file.as_bytes());
    let subjects: Vec<&str> = mails.iter().map(|mail| mail.subject.as_str()).collect();
    assert_eq!(subjects, ["one", "two", "three"]);
    assert_eq!(
        mails[0].body,
        "From here it is far.\n\nFrom here too.\nFrom 10:00:00 on\n>From quoted\n> From other\n"
    );
    assert_eq!(mails[1].body, "body\r\n");
}

#[test]
fn a_single_message_is_never_split() {
    let file = "Subject: one\n\ntext\n\nFrom x Mon Jan  1 10:00:00 2024\nmore\n";
    assert_eq!(mails(file.as_bytes()).len(), 1);
}

#[test]
fn an_empty_file_has_no_messages() {
    assert!(mails(b"").is_empty());
    assert!(mails(b"\n\r\n").is_empty());
}

#[test]
fn text_without_headers_is_a_body() {
    let mail = Mail::parse(b"no header here\nat all \xff");
    assert!(mail.text(true).contains("at all"), "{mail:?}");
}

#[test]
fn text_directly_after_the_headers_is_kept() {
    let mail = Mail::parse(b"Subject: deal\n  of the day\nbuy now\n  and more : cheap\n");
    assert_eq!(
        mail.text(false),
        "deal of the day\nbuy now\n  and more : cheap\n"
    );
}

#[test]
fn an_attachment_alone_has_no_text() {
    let message = "Subject: s\nContent-Type: application/pdf\nContent-Transfer-Encoding: base64\n\nYXR0YWNoZWQ=\n";
    assert_eq!(Mail::parse(message.as_bytes()).text(false), "s");
}

#[test]
fn oversized_messages_are_truncated() {
    let head = b"From a Mon Jan  1 10:00:00 2024\nSubject: large\n\n";
    let line = [b'x'; 100_000];
    let mut file = head.to_vec();
    for _ in 0..800 {
        file.extend_from_slice(&line);
    }
    file.extend_from_slice(b"\n\nFrom b Mon Jan  1 10:00:00 2024\nSubject: small\n\n");
    let mut messages = Messages::new(file.as_slice());
    let large = messages.next_raw().expect("readable").expect("a message");
    assert_eq!(large.len(), 64 << 20);
    let small = messages.next().expect("a message").expect("readable");
    assert_eq!(small.subject, "small");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_messages_never_panic(
        cuts in prop::collection::vec((0..MULTIPART.len(), 0..40_usize, prop::collection::vec(any::<u8>(), 0..8)), 1..6),
    ) {
        let mut message = MULTIPART.as_bytes().to_vec();
        for (place, removed, inserted) in cuts {
            let start = place.min(message.len());
            let end = (start + removed).min(message.len());
            message.splice(start..end, inserted);
        }
        mails(&message);
        let mut mailbox = b"From a Mon Jan  1 10:00:00 2024\n".to_vec();
        mailbox.extend_from_slice(&message);
        mails(&mailbox);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        mails(&bytes);
    }

    #[test]
    fn random_html_never_panics(page in "[<>&;#/!\"'a-eé \\-]{0,80}") {
        Mail::parse(format!("Content-Type: text/html\n\n{page}").as_bytes());
    }
}
