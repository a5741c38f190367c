//! The asia network (Lauritzen and Spiegelhalter 1988), by hand in each format, for the tests.

use crate::model::network::{Distribution, Network, Variable};

/// The network that the texts hold.
pub(super) fn asia() -> Network {
    let variable = |name: &str, parents: &[usize], table: &[f64]| Variable {
        name: name.into(),
        states: vec!["yes".into(), "no".into()],
        parents: parents.to_vec(),
        distribution: Distribution::Table(table.to_vec()),
    };
    let variables = vec![
        variable("asia", &[], &[0.01, 0.99]),
        variable("tub", &[0], &[0.05, 0.95, 0.01, 0.99]),
        variable("smoke", &[], &[0.5, 0.5]),
        variable("lung", &[2], &[0.1, 0.9, 0.01, 0.99]),
        variable("bronc", &[2], &[0.6, 0.4, 0.3, 0.7]),
        variable("either", &[3, 1], &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0]),
        variable("xray", &[5], &[0.98, 0.02, 0.05, 0.95]),
        variable("dysp", &[4, 5], &[0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.1, 0.9]),
    ];
    Network::new(variables).unwrap().0
}

/// The same network with the names that a UAI file gives it.
pub(super) fn without_names(network: &Network) -> Network {
    let unnamed = |(position, variable): (usize, &Variable)| Variable {
        name: format!("x{position}"),
        states: (0..variable.states.len())
            .map(|state| state.to_string())
            .collect(),
        ..variable.clone()
    };
    let variables = network
        .variables()
        .iter()
        .enumerate()
        .map(unnamed)
        .collect();
    Network::new(variables).unwrap().0
}

/// BIF, with much of what the format allows.
pub(super) const BIF: &str = r#"// by hand
network "asia" { property "a } in quotes"; }
variable asia { type discrete [ 2 ] { yes, no }; property position = (10, 20); }
variable tub { type discrete [2] { "yes" "no" }; }
variable smoke { type discrete[2] {yes, no}; }
variable "lung" { type discrete [ 2 ] { yes, no }; }
variable bronc { type discrete [ 2 ] { yes, no }; }
variable either { type discrete [ 2 ] { yes, no }; }
variable xray { type discrete [ 2 ] { yes, no }; }
variable dysp { type discrete [ 2 ] { yes, no }; }
probability ( asia ) { table 1e-2, 0.99; }
probability ( tub | asia ) {
  (no) 0.01 0.99; /* in any order,
  with or without commas */
  ("yes") 5.0E-2, .95;
}
probability ( smoke ) { table 0.5, 0.5; }
probability ( "lung" "smoke" ) { table 0.1 0.01 0.9 0.99; } // JavaBayes
probability ( bronc | smoke ) {
  (yes) 0.6, 0.4;
  (no) 0.3, 0.7;
}
probability ( either | lung, tub ) {
  default 1.0, 0.0;
  (no, no) 0.0, 1.0;
}
probability ( xray | either ) { (yes) 0.98, 0.02; (no) 0.05, 0.95; }
probability ( dysp | bronc, either ) {
  (yes, yes) 0.9, 0.1;
  (no, yes) 0.7, 0.3;
  (yes, no) 0.8, 0.2;
  (no, no) 0.1, 0.9;
}
"#;

/// XMLBIF with a document type definition.
pub(super) const XMLBIF: &str = r#"<?xml version="1.0"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> <!ATTLIST BIF VERSION CDATA #REQUIRED> ]>
<BIF VERSION="0.3"><NETWORK><NAME>asia</NAME>
<PROPERTY>by hand</PROPERTY>
<DEFINITION><FOR>asia</FOR><TABLE>0.01 0.99</TABLE></DEFINITION>
<VARIABLE TYPE="nature"><NAME>asia</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<VARIABLE><NAME> tub
</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<VARIABLE><NAME>smo&#107;e</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<VARIABLE><NAME>lung</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<VARIABLE><NAME>bronc</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<VARIABLE><NAME>either</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<VARIABLE><NAME>xray</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<VARIABLE><NAME>dysp</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<DEFINITION><FOR>tub</FOR><GIVEN>asia</GIVEN><TABLE>0.05 0.95 0.01 0.99</TABLE></DEFINITION>
<DEFINITION><FOR>smoke</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>
<DEFINITION><FOR>lung</FOR><GIVEN>smoke</GIVEN><TABLE>0.1 0.9 0.01 0.99</TABLE></DEFINITION>
<DEFINITION><FOR>bronc</FOR><GIVEN>smoke</GIVEN><TABLE>0.6 0.4 0.3 0.7</TABLE></DEFINITION>
<DEFINITION><FOR>either</FOR><GIVEN>lung</GIVEN><GIVEN>tub</GIVEN>
<TABLE>1 0 1 0 <!-- (yes, *) --> 1 0 <![CDATA[0 1]]></TABLE></DEFINITION>
<DEFINITION><FOR>xray</FOR><GIVEN>either</GIVEN><TABLE>0.98 0.02 0.05 0.95</TABLE></DEFINITION>
<DEFINITION><FOR>dysp</FOR><GIVEN>bronc</GIVEN><GIVEN>either</GIVEN>
<TABLE>0.9 0.1
0.8 0.2
0.7 0.3
0.1 0.9</TABLE></DEFINITION>
</NETWORK></BIF>
"#;

/// Hugin's NET, in a class.
pub(super) const NET: &str = r#"% by hand
class Asia
{
  inputs = ();
  node_size = (80 40);
  node asia { label = "Visit to \"Asia\"?"; position = (10 20); states = ("yes" "no"); }
  discrete node tub { states = ("yes" "no"); }
  node smoke { states = (yes no); }
  node lung { states = ("yes" "no"); HR_Color = 5; }
  node bronc { states = ("yes" "no"); }
  node either { states = ("yes" "no"); }
  node xray { states = ("yes" "no"); }
  node dysp { states = ("yes" "no"); }
  potential (asia) { data = ( 0.01 0.99 ); } % one % two
  potential (tub | asia) { data = (( 0.05 0.95 )    % asia=yes
                                   ( 0.01 0.99 ));  % asia=no
  }
  potential (smoke) { }
  potential (lung | smoke) { data = ((0.1 0.9)(0.01 0.99)); experience = (10 20); }
  potential (bronc | smoke) { data = (0.6 0.4 0.3 0.7); }
  potential (either | lung tub) { data = (((1 0)(1.0 0.0))((1 0)(0 1))); }
  potential (xray | either) { data = ((0.98 0.02) (0.05 0.95)); }
  potential (dysp | bronc either) { data = (((0.9 0.1)(0.8 0.2))((0.7 0.3)(0.1 0.9))); }
}
"#;

/// XDSL, with a deterministic node and a noisy-MAX that is the same as a table.
pub(super) const XDSL: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="Asia" numsamples="1000"><nodes>
<cpt id="asia"><state id="yes" label="x"/><state id="no"/><probabilities>0.01 0.99</probabilities>
  <property id="source">by hand</property></cpt>
<cpt id="tub"><state id="yes"/><state id="no"/><parents>asia</parents>
  <probabilities>0.05 0.95 0.01 0.99</probabilities></cpt>
<cpt id="smoke"><state id="yes"/><state id="no"/><probabilities>0.5 0.5</probabilities></cpt>
<noisymax id="lung"><state id="yes"/><state id="no"/><parents>smoke</parents>
  <strengths>1 0</strengths><parameters>0.01 0.99 0.1 0.9 0 1</parameters></noisymax>
<cpt id="bronc"><state id="yes"/><state id="no"/><parents>smoke</parents>
  <probabilities>0.6 0.4 0.3 0.7</probabilities></cpt>
<deterministic id="either"><state id="yes"/><state id="no"/><parents>lung tub</parents>
  <resultingstates>yes yes yes no</resultingstates></deterministic>
<cpt id="xray"><state id="yes"/><state id="no"/><parents>either</parents>
  <probabilities>0.98 0.02 0.05 0.95</probabilities></cpt>
<cpt id="dysp"><state id="yes"/><state id="no"/><parents>bronc either</parents>
  <probabilities>0.9 0.1 0.8 0.2 0.7 0.3 0.1 0.9</probabilities></cpt>
</nodes><extensions><genie version="1.0"><node id="asia"><name>Visit?</name></node></genie></extensions>
</smile>
"#;

/// UAI, with comments.
pub(super) const UAI: &str = "c by hand
BAYES
8
2 2 2 2 2 2 2 2
8
1 0   # asia
2 0 1
1 2
2 2 3
2 2 4
3 3 1 5
2 5 6
3 4 5 7
c the tables
2 0.01 0.99
4 0.05 0.95 0.01 0.99
2 0.5 0.5
4 0.1 0.9 0.01 0.99
4 0.6 0.4 0.3 0.7
8 1 0 1 0 1 0 0 1
4 0.98 0.02 0.05 0.95
8 0.9 0.1 0.8 0.2 0.7 0.3 0.1 0.9
";

/// The text of the asia network in each format that can be read.
pub(super) const SAMPLES: [(&str, &str); 5] = [
    ("bif", BIF),
    ("xmlbif", XMLBIF),
    ("net", NET),
    ("xdsl", XDSL),
    ("uai", UAI),
];
